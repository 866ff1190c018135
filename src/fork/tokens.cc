#include "fork/tokens.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace errand {
namespace {

// Tokenizers cut a text into words, numbers, spaces and signs, and each of those into pieces that are frequent in what
// people write. So does this: what a piece costs, on the average and with a margin, was fitted to the real counts of
// some thousand texts. In thousandths of a token.
using Cost = int64_t;
constexpr Cost token = 1'000;

// What stands before a word or a number decides how it is cut: a space belongs to what follows it.
enum Before : uint8_t { space, sign, letter };
enum Form : uint8_t { lower, capital, upper };

// A word of at most two letters; a longer one; each further letter.
constexpr Cost word_short[3][3] = {{1'318, 1'262, 1'372}, {1'600, 1'000, 2'129}, {900, 1'339, 500}};
constexpr Cost word_long[3][3] = {{1'093, 1'361, 1'980}, {1'275, 1'463, 906}, {2'468, 1'972, 1'559}};
constexpr Cost letter_more[3] = {11, 11, 134};     // The fifth to eighth (upper: third to eighth).
constexpr Cost letter_most[3] = {21, 0, 372};      // From the ninth on.
constexpr Cost odd_pair[3] = {1'010, 1'027, 462};  // Two letters that words seldom have in a row: it is cut there.
constexpr Cost odd_pair_short[3] = {0, 352, 1'041};
constexpr size_t word_usual = 20;  // Longer ones are names run together, or none at all.
constexpr Cost letter_unusual = 430;
constexpr std::ptrdiff_t letters_max = 64;       // More are taken for several words.
constexpr Cost number[3] = {1'740, 1'270, 717};  // Of up to three digits.
constexpr Cost number_more = 1'300;              // Each three further ones.
constexpr Cost newlines = 1'256, tabs = 1'821, spaces = 510, blanks_more = 330;
constexpr Cost sign_one = 895, sign_second = 93, sign_more = 571;
constexpr Cost row = 2'180, row_more = 330;  // One sign four times or more.

// Pairs of letters that make up 97 % of those in English prose and in source code: a bit for each second letter.
constexpr std::array<uint32_t, 26> usual_pairs = {
    0x1bebd6e, 0x1164b11, 0x01edd95, 0x0164919, 0x1eff97f, 0x01e6931, 0x01e6995, 0x01a4111, 0x2aef87f,
    0x0040010, 0x0040114, 0x11cc9bb, 0x114d91b, 0x13ced7d, 0x07efd6f, 0x11edd91, 0x0100000, 0x17efd7d,
    0x11efd95, 0x1def9bd, 0x00eb97f, 0x0004511, 0x0026191, 0x0089114, 0x00cc000, 0x0000010};

// The Chinese characters that are a token by themselves; others are two or three.
constexpr std::u16string_view usual_ideographs =
    u"一万三上下不与专业东两个中串为主么义之也书了事二于五些交产京人今从他付代以们件价任份企优会传但位体何余作"
    u"你使例供保信修值停像元先入全公共关其具内册再写出击分列则初利别到制前力功加务动動包化北区十华单南即历原去"
    u"县参及反发取变口只可台右号司合同名后向否含启告员周命和品哈商器四回因国图土在地场址型城基報場填增处备复外"
    u"多大天失头好如始子字存学安完定实客家容密对导将小少尔就局展山州工左已市布常平年并广序库应店度建开异式引张"
    u"当录形影径待後得微心必志态思性总息您情意感成我或户所手打找技投报拉持指按换据排接推提播支收改放政效数整文"
    u"料断新方族无日时明易星是時景更最月有服期未本机权束条来板构析果查标样核格案检模次止正此步段每比民水求江没"
    u"治法注活流海消清游源点然片版物特率环现理生用由电画界登的监目直相省看真知码确示社票种科秒称移程空立站章端"
    u"符第等签简算管箱类系素索约级线组经结给络统编网置老考者而联能自至色节英藏行表装西要见规视角解言計计认议记"
    u"论设证评试话询该详语误说请读调象责败账购费资起超路身车转软载辑输达过运近还这进连述退送选通速造道邮部都配"
    u"释里重量金钮链销错键长開間関门闭问间队阳陆限院除集需非面音页项预频题额首验高黑";
constexpr char16_t ideographs_begin = 0x4e00, ideographs_end = 0xa000;
constexpr auto ideograph_bits = [] {
  std::array<uint64_t, (ideographs_end - ideographs_begin) / 64> bits{};
  for (const char16_t c : usual_ideographs)
    bits[(c - ideographs_begin) / 64] |= uint64_t{1} << (c - ideographs_begin) % 64;
  return bits;
}();

enum class Kind : uint8_t { lower, upper, digit, space, newline, tab, sign, control, wide };

constexpr auto kinds = [] {
  std::array<Kind, 256> of{};
  for (size_t i = 0; i < of.size(); ++i) {
    const auto c = static_cast<char>(i);
    if (i >= 128)
      of[i] = Kind::wide;
    else if (c >= 'a' && c <= 'z')
      of[i] = Kind::lower;
    else if (c >= 'A' && c <= 'Z')
      of[i] = Kind::upper;
    else if (c >= '0' && c <= '9')
      of[i] = Kind::digit;
    else if (c == ' ')
      of[i] = Kind::space;
    else if (c == '\n' || c == '\r')
      of[i] = Kind::newline;
    else if (c == '\t')
      of[i] = Kind::tab;
    else
      of[i] = i < 32 || i == 127 ? Kind::control : Kind::sign;
  }
  return of;
}();

// A character that is no ASCII, by its script.
Cost wide_cost(char32_t c) {
  if (c >= ideographs_begin && c < ideographs_end) {
    const uint32_t at = c - ideographs_begin;
    return (ideograph_bits[at / 64] >> at % 64 & 1) != 0 ? 995 : 2'133;
  }
  if (c < 0x250 || (c >= 0x1e00 && c < 0x1f00)) return 1'310;  // Letters with accents.
  if (c < 0x400) return 1'520;                                 // Greek.
  if (c < 0x530) return 650;                                   // Cyrillic.
  if (c < 0x900) return 1'310;                                 // Hebrew, Arabic.
  if (c < 0xe00) return 1'580;                                 // India's.
  if (c < 0xe80) return 2'070;                                 // Thai.
  if (c >= 0x2010 && c < 0x2040) return 900;                   // Dashes and quotes.
  if (c >= 0x2500 && c < 0x2580) return 980;                   // Boxes.
  if (c >= 0x3000 && c < 0x3040) return 626;                   // Chinese punctuation,
  if (c >= 0xff00 && c < 0xfff0) return 626;                   // and its wide forms.
  if (c >= 0x3040 && c < 0x3100) return 1'150;                 // Kana.
  if (c >= 0xac00 && c < 0xd7b0) return 1'530;                 // Hangul.
  return c < 0x10000 ? 2'180 : 3'270;                          // Signs; emoji and the rest.
}

bool usual(char a, char b) {
  const auto at = [](char c) { return static_cast<unsigned>(c | 0x20) - 'a'; };
  return (usual_pairs[at(a)] >> at(b) & 1) != 0;
}

// Reads pieces off the front of a text.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool done() const { return at_ == end_; }
  const char* at() const { return at_; }

  Cost next() {
    const Kind kind = kind_of(*at_);
    switch (kind) {
      case Kind::lower:
      case Kind::upper:
        return word();
      case Kind::digit: {
        const Before before = std::exchange(before_, letter);
        return number[before] + number_more * static_cast<Cost>((run(kind) - 1) / 3);
      }
      case Kind::space: {
        before_ = space;
        const size_t length = run(kind);
        return length == 1 ? 0 : spaces + blanks_more * static_cast<Cost>(length / 16);
      }
      case Kind::newline:
      case Kind::tab:
        before_ = sign;
        return (kind == Kind::tab ? tabs : newlines) + blanks_more * static_cast<Cost>(run(kind) / 4);
      case Kind::sign:
        before_ = sign;
        return signs();
      case Kind::control:
        before_ = sign;
        ++at_;
        return 1'310;
      case Kind::wide:
        break;
    }
    before_ = sign;
    std::string_view rest(at_, end_);
    const char32_t c = take_character(rest);
    at_ = rest.data();
    return wide_cost(c);
  }

 private:
  static Kind kind_of(char c) { return kinds[static_cast<unsigned char>(c)]; }

  // Bounded, so that a text can be cut within a run that never ends.
  size_t run(Kind kind, std::ptrdiff_t most = 256) {
    const char* const begin = at_;
    const char* const end = begin + std::min(most, end_ - begin);
    while (at_ != end && kind_of(*at_) == kind) ++at_;
    return static_cast<size_t>(at_ - begin);
  }

  // A word in the sense of tokenizers: `word`, `Word` or `WORD`; fooBar and BASEName are two each.
  Cost word() {
    const char* const begin = at_;
    const size_t capitals = run(Kind::upper, letters_max);
    Form form = upper;
    if (at_ != end_ && kind_of(*at_) == Kind::lower) {
      if (capitals > 1) {
        --at_;
      } else {
        form = capitals == 1 ? capital : lower;
        run(Kind::lower, letters_max);
      }
    }
    const auto length = static_cast<size_t>(at_ - begin);
    Cost odd = 0;
    for (const char* c = begin; c + 1 < at_; ++c) odd += usual(c[0], c[1]) ? 0 : 1;
    const Before before = std::exchange(before_, letter);
    if (length <= 2) return word_short[form][before] + odd * odd_pair_short[form];
    const size_t first = form == upper ? 2 : 4;
    Cost cost = word_long[form][before] + odd * odd_pair[form];
    if (length > first) cost += letter_more[form] * static_cast<Cost>(std::min<size_t>(length, 8) - first);
    if (length > 8) cost += letter_most[form] * static_cast<Cost>(length - 8);
    if (const auto explained = word_usual + static_cast<size_t>(3 * odd); length > explained)
      cost += letter_unusual * static_cast<Cost>(length - explained);
    return cost;
  }

  Cost signs() {
    Cost cost = 0;
    Cost single = 0;
    const char* const enough = at_ + std::min<std::ptrdiff_t>(256, end_ - at_);
    while (at_ < enough && kind_of(*at_) == Kind::sign) {
      const char* const begin = at_;
      while (at_ != end_ && *at_ == *begin && at_ - begin < 256) ++at_;
      const Cost same = at_ - begin;
      if (same >= 4)
        cost += row + row_more * (same / 8);
      else
        single += same;
    }
    if (single > 0) cost += sign_one;
    if (single > 1) cost += sign_second;
    if (single > 2) cost += sign_more * (single - 2);
    return cost;
  }

  const char* at_;
  const char* end_;
  Before before_ = space;
};

int64_t whole(Cost cost) { return (cost + token - 1) / token; }

// Beside the texts: a role and its frame; a part's frame; the id and the names of a call or a result.
constexpr int64_t message_frame = 5;
constexpr int64_t part_frame = 2;
constexpr int64_t call_frame = 24;
// An image is shown to a model at a bounded size, whatever its file's.
constexpr int64_t image_tokens = 1'600;

}  // namespace

int64_t estimate_tokens_to(std::string_view text, int64_t limit) {
  Cost cost = 0;
  const Cost enough = std::min(limit, INT64_MAX / token - 1) * token;
  for (Pieces pieces(text); !pieces.done() && cost <= enough;) cost += pieces.next();
  return whole(cost);
}

int64_t estimate_tokens(std::string_view text) { return estimate_tokens_to(text, INT64_MAX); }

size_t tokens_prefix(std::string_view text, int64_t limit) {
  Cost cost = 0;
  size_t fits = 0;
  Pieces pieces(text);
  while (!pieces.done()) {
    cost += pieces.next();
    if (whole(cost) > limit) break;
    fits = static_cast<size_t>(pieces.at() - text.data());
  }
  return fits;
}

// From a part of it that is long enough for certain, without what stands before the piece that fits.
size_t tokens_suffix(std::string_view text, int64_t limit) {
  size_t bytes = 0;
  Cost cost = 0;
  // In windows from the end: what a window costs does not depend on the others by more than its first piece.
  constexpr size_t window = 256;
  while (bytes < text.size()) {
    const size_t more = utf8_suffix(text.substr(0, text.size() - bytes), window);
    if (more == 0) break;
    const std::string_view piece = text.substr(text.size() - bytes - more, more);
    for (Pieces pieces(piece); !pieces.done();) cost += pieces.next();
    if (whole(cost) > limit) break;
    bytes += more;
  }
  return bytes;
}

int64_t estimate_tokens(const Part& part) {
  const int64_t text = part_frame + estimate_tokens(part.text);
  switch (part.type) {
    case PartType::tool_call:
      return text + call_frame + estimate_tokens(part.name) + estimate_tokens(part.input);
    case PartType::tool_result:
      return text + call_frame;
    case PartType::file:
      return text + estimate_tokens(part.name) +
             (part.media_type.starts_with("image/") ? image_tokens : estimate_tokens(part.url));
    default:
      return text;
  }
}

int64_t estimate_tokens(const Message& message) {
  int64_t tokens = message_frame;
  for (const Part& part : message.parts) tokens += estimate_tokens(part);
  return tokens;
}

}  // namespace errand
