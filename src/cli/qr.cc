#include "cli/qr.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace errand::cli {
namespace {

constexpr int quiet = 4;  // Light modules around it, which scanners need.

// Of error correction M, by version.
struct Shape {
  int codewords;  // In all.
  int blocks;
  int check;  // Codewords for error correction, in each block.
  std::array<int, 3> alignment;
};
constexpr std::array<Shape, 11> shapes = {{{},
                                           {26, 1, 10, {}},
                                           {44, 1, 16, {6, 18}},
                                           {70, 1, 26, {6, 22}},
                                           {100, 2, 18, {6, 26}},
                                           {134, 2, 24, {6, 30}},
                                           {172, 4, 16, {6, 34}},
                                           {196, 4, 18, {6, 22, 38}},
                                           {242, 4, 22, {6, 24, 42}},
                                           {292, 5, 22, {6, 26, 46}},
                                           {346, 5, 26, {6, 28, 50}}}};

int data_codewords(int version) {
  const Shape& shape = shapes[static_cast<size_t>(version)];
  return shape.codewords - shape.blocks * shape.check;
}
int count_bits(int version) { return version < 10 ? 8 : 16; }

class Bits {
 public:
  void put(uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      if (used_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<unsigned char>(bytes_.back() | (value >> i & 1) << (7 - used_ % 8));
      ++used_;
    }
  }
  size_t used() const { return used_; }
  std::vector<unsigned char>& bytes() { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  size_t used_ = 0;
};

// In the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
unsigned char multiply(unsigned char a, unsigned char b) {
  int product = 0;
  for (int i = 7; i >= 0; --i) {
    product = product << 1 ^ (product >> 7) * 0x11d;
    product ^= (b >> i & 1) * a;
  }
  return static_cast<unsigned char>(product);
}

// The Reed-Solomon check codewords of a block: what is left of it when it is divided by the generator.
std::vector<unsigned char> check_of(const std::vector<unsigned char>& data, int degree) {
  std::vector<unsigned char> generator(static_cast<size_t>(degree), 0);
  generator.back() = 1;
  unsigned char root = 1;
  for (int i = 0; i < degree; ++i, root = multiply(root, 2)) {
    for (size_t j = 0; j < generator.size(); ++j) {
      generator[j] = multiply(generator[j], root);
      if (j + 1 < generator.size()) generator[j] ^= generator[j + 1];
    }
  }
  std::vector<unsigned char> left(generator.size(), 0);
  for (const unsigned char byte : data) {
    const unsigned char factor = byte ^ left.front();
    std::ranges::rotate(left, left.begin() + 1);
    left.back() = 0;
    for (size_t j = 0; j < left.size(); ++j) left[j] ^= multiply(generator[j], factor);
  }
  return left;
}

std::vector<unsigned char> data_of(std::string_view text, int version) {
  const size_t room = static_cast<size_t>(data_codewords(version));
  Bits bits;
  bits.put(4, 4);  // Byte mode.
  bits.put(static_cast<uint32_t>(text.size()), count_bits(version));
  for (const char c : text) bits.put(static_cast<unsigned char>(c), 8);
  bits.put(0, static_cast<int>(std::min<size_t>(4, room * 8 - bits.used())));
  if (bits.used() % 8 != 0) bits.put(0, static_cast<int>(8 - bits.used() % 8));
  for (uint32_t filler = 0xec; bits.bytes().size() < room; filler ^= 0xec ^ 0x11) bits.put(filler, 8);
  return std::move(bits.bytes());
}

// Blocks, each with its check, interleaved: a spot on the paper hits a little of each.
std::vector<unsigned char> interleaved(const std::vector<unsigned char>& data, int version) {
  const Shape& shape = shapes[static_cast<size_t>(version)];
  const size_t blocks = static_cast<size_t>(shape.blocks), least = data.size() / blocks;
  const size_t shorter = blocks - data.size() % blocks;
  std::vector<std::vector<unsigned char>> parts, checks;
  for (size_t i = 0, from = 0; i < blocks; ++i) {
    const size_t size = least + (i >= shorter ? 1 : 0);
    parts.emplace_back(data.begin() + static_cast<ptrdiff_t>(from), data.begin() + static_cast<ptrdiff_t>(from + size));
    checks.push_back(check_of(parts.back(), shape.check));
    from += size;
  }
  std::vector<unsigned char> out;
  for (const auto& group : {parts, checks})
    for (size_t i = 0; i < group.back().size(); ++i)
      for (const auto& part : group)
        if (i < part.size()) out.push_back(part[i]);
  return out;
}

bool masked(int mask, int x, int y) {
  switch (mask) {
    case 0:
      return (x + y) % 2 == 0;
    case 1:
      return y % 2 == 0;
    case 2:
      return x % 3 == 0;
    case 3:
      return (x + y) % 3 == 0;
    case 4:
      return (x / 3 + y / 2) % 2 == 0;
    case 5:
      return x * y % 2 + x * y % 3 == 0;
    case 6:
      return (x * y % 2 + x * y % 3) % 2 == 0;
    default:
      return ((x + y) % 2 + x * y % 3) % 2 == 0;
  }
}

}  // namespace

Qr::Qr(int version)
    : version_(version),
      size_(version * 4 + 17),
      modules_(static_cast<size_t>(size_ * size_)),
      fixed_(static_cast<size_t>(size_ * size_)) {}

void Qr::set(int x, int y, bool dark) {
  modules_[at(x, y)] = dark;
  fixed_[at(x, y)] = true;
}

void Qr::draw_finder(int x, int y) {
  for (int dy = -4; dy <= 4; ++dy)
    for (int dx = -4; dx <= 4; ++dx) {
      const int ring = std::max(std::abs(dx), std::abs(dy));
      if (x + dx >= 0 && x + dx < size_ && y + dy >= 0 && y + dy < size_) set(x + dx, y + dy, ring != 2 && ring != 4);
    }
}

void Qr::draw_patterns() {
  for (int i = 0; i < size_; ++i) {
    set(6, i, i % 2 == 0);
    set(i, 6, i % 2 == 0);
  }
  draw_finder(3, 3);
  draw_finder(size_ - 4, 3);
  draw_finder(3, size_ - 4);
  const auto& places = shapes[static_cast<size_t>(version_)].alignment;
  const int last = *std::ranges::max_element(places);
  for (const int x : places)
    for (const int y : places) {
      // Not where a finder is.
      if (x == 0 || y == 0 || (x == 6 && y == 6) || (x == 6 && y == last) || (x == last && y == 6)) continue;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) set(x + dx, y + dy, std::max(std::abs(dx), std::abs(dy)) != 1);
    }
  draw_format(0);
  if (version_ < 7) return;
  int rest = version_;
  for (int i = 0; i < 12; ++i) rest = rest << 1 ^ (rest >> 11) * 0x1f25;
  const int bits = version_ << 12 | rest;
  for (int i = 0; i < 18; ++i) {
    const int far = size_ - 11 + i % 3, near = i / 3;
    set(far, near, (bits >> i & 1) != 0);
    set(near, far, (bits >> i & 1) != 0);
  }
}

void Qr::draw_format(int mask) {
  const int data = mask;  // The two bits of error correction M are zero.
  int rest = data;
  for (int i = 0; i < 10; ++i) rest = rest << 1 ^ (rest >> 9) * 0x537;
  const int bits = (data << 10 | rest) ^ 0x5412;
  const auto bit = [&](int i) { return (bits >> i & 1) != 0; };
  for (int i = 0; i <= 5; ++i) set(8, i, bit(i));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (int i = 9; i < 15; ++i) set(14 - i, 8, bit(i));
  for (int i = 0; i < 8; ++i) set(size_ - 1 - i, 8, bit(i));
  for (int i = 8; i < 15; ++i) set(8, size_ - 15 + i, bit(i));
  set(8, size_ - 8, true);
}

// In columns of two, from the right, up and down in turns.
void Qr::draw_codewords(const std::vector<unsigned char>& codewords) {
  size_t next = 0;
  for (int right = size_ - 1; right >= 1; right -= 2) {
    if (right == 6) right = 5;
    for (int step = 0; step < size_; ++step)
      for (int x = right; x > right - 2; --x) {
        const int y = ((right + 1) & 2) == 0 ? size_ - 1 - step : step;
        if (fixed_[at(x, y)] || next >= codewords.size() * 8) continue;
        modules_[at(x, y)] = (codewords[next / 8] >> (7 - next % 8) & 1) != 0;
        ++next;
      }
  }
}

void Qr::apply_mask(int mask) {
  for (int y = 0; y < size_; ++y)
    for (int x = 0; x < size_; ++x)
      if (!fixed_[at(x, y)] && masked(mask, x, y)) modules_[at(x, y)] = !modules_[at(x, y)];
}

// How hard it is to scan: long runs, blocks, what looks like a finder, and more of one colour than of the other.
int Qr::penalty() const {
  int points = 0, darks = 0;
  for (const bool across : {true, false})
    for (int line = 0; line < size_; ++line) {
      const auto module = [&](int i) { return across ? modules_[at(i, line)] : modules_[at(line, i)]; };
      int run = 0;
      uint32_t seen = 0;
      for (int i = 0; i < size_; ++i) {
        run = i > 0 && module(i) == module(i - 1) ? run + 1 : 1;
        if (run == 5) points += 3;
        if (run > 5) ++points;
        seen = (seen << 1 | (module(i) ? 1 : 0)) & 0x7ff;
        if (i >= 10 && (seen == 0x5d0 || seen == 0x05d)) points += 40;
        if (across && module(i)) ++darks;
      }
    }
  for (int y = 0; y + 1 < size_; ++y)
    for (int x = 0; x + 1 < size_; ++x) {
      const bool colour = modules_[at(x, y)];
      if (colour == modules_[at(x + 1, y)] && colour == modules_[at(x, y + 1)] && colour == modules_[at(x + 1, y + 1)])
        points += 3;
    }
  const int total = size_ * size_;
  return points + std::abs(darks * 20 - total * 10) / total * 10;
}

std::optional<Qr> Qr::encode(std::string_view text, int mask) {
  if (text.size() > qr_bytes_max) return std::nullopt;
  int version = 1;
  while (static_cast<int>(text.size()) * 8 + 4 + count_bits(version) > data_codewords(version) * 8) ++version;
  Qr plain(version);
  plain.draw_patterns();
  plain.draw_codewords(interleaved(data_of(text, version), version));
  std::optional<Qr> best;
  for (int each = mask < 0 ? 0 : mask; each <= (mask < 0 ? 7 : mask); ++each) {
    Qr tried = plain;
    tried.apply_mask(each);
    tried.draw_format(each);
    if (!best || tried.penalty() < best->penalty()) best = std::move(tried);
  }
  return best;
}

int qr_columns(const Qr& qr) { return qr.size() + 2 * quiet; }

std::string qr_text(const Qr& qr, bool colours) {
  std::string out;
  for (int y = -quiet; y < qr.size() + quiet; y += 2) {
    if (colours) out += "\033[38;5;16;48;5;231m";
    for (int x = -quiet; x < qr.size() + quiet; ++x) {
      // Drawn is what is dark on a white ground; without colours, what is light on a dark one.
      const bool upper = qr.dark(x, y) == colours;
      const bool lower = qr.dark(x, y + 1) == colours && (colours || y + 1 < qr.size() + quiet);
      out += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
    }
    out += colours ? "\033[0m\n" : "\n";
  }
  return out;
}

}  // namespace errand::cli
