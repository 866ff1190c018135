#include "driver/builtin/tools/html_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace errand::builtin {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

// Elements whose content is not shown.
constexpr std::array hidden = {"script", "style", "noscript", "template", "svg", "head", "iframe"};
// Elements that begin a line of their own.
constexpr std::array blocks = {"p",       "div",        "br",     "li",     "ul",     "ol",   "tr",
                               "table",   "h1",         "h2",     "h3",     "h4",     "h5",   "h6",
                               "section", "article",    "header", "footer", "nav",    "pre",  "form",
                               "hr",      "blockquote", "dt",     "dd",     "figure", "main", "title"};

struct Entity {
  std::string_view name, text;
};
constexpr std::array entities = {Entity{"amp", "&"},    Entity{"lt", "<"},   Entity{"gt", ">"},    Entity{"quot", "\""},
                                 Entity{"apos", "'"},   Entity{"nbsp", " "}, Entity{"mdash", "—"}, Entity{"ndash", "–"},
                                 Entity{"hellip", "…"}, Entity{"copy", "©"}, Entity{"rsquo", "’"}, Entity{"lsquo", "‘"},
                                 Entity{"rdquo", "”"},  Entity{"ldquo", "“"}};

class Reader {
 public:
  explicit Reader(std::string_view html) : html_(html) {}

  std::string run() {
    while (at_ < html_.size()) {
      if (html_[at_] == '<')
        tag();
      else if (html_[at_] == '&')
        entity();
      else
        character(html_[at_++]);
    }
    while (!out_.empty() && is_blank(out_.back())) out_.pop_back();
    return std::move(out_);
  }

 private:
  void character(char c) {
    if (pre_ && c != '\r') {
      out_ += c;
      return;
    }
    if (is_blank(c)) {
      blank_ = true;
      return;
    }
    if (blank_ && !out_.empty() && out_.back() != '\n') out_ += ' ';
    blank_ = false;
    out_ += c;
  }
  void text(std::string_view text) {
    for (const char c : text) character(c);
  }
  void new_line() {
    blank_ = false;
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void entity() {
    const size_t end = html_.substr(at_, 12).find(';');
    if (end == std::string_view::npos) return character(html_[at_++]);
    const std::string_view name = html_.substr(at_ + 1, end - 1);
    if (name.starts_with('#')) {
      const bool hex = name.size() > 1 && lower(name[1]) == 'x';
      const std::string_view digits = name.substr(hex ? 2 : 1);
      uint32_t code = 0;
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
      if (error == std::errc() && stop == digits.data() + digits.size() && code >= 0x20 && code <= 0x10ffff &&
          (code < 0xd800 || code > 0xdfff)) {
        std::string made;
        append_character(made, code);
        at_ += end + 1;
        return text(made);
      }
    } else if (const auto known = std::ranges::find(entities, name, &Entity::name); known != entities.end()) {
      at_ += end + 1;
      return text(known->text);
    }
    character(html_[at_++]);
  }

  void tag() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) return skip_behind("-->", 4);
    if (rest.size() < 2 ||
        (!(lower(rest[1]) >= 'a' && lower(rest[1]) <= 'z') && rest[1] != '/' && rest[1] != '!' && rest[1] != '?'))
      return character(html_[at_++]);
    const bool closes = rest[1] == '/';
    std::string name;
    size_t i = closes ? 2 : 1;
    for (; i < rest.size() && name.size() < 16 && !is_blank(rest[i]) && rest[i] != '>' && rest[i] != '/'; ++i)
      name += lower(rest[i]);
    const size_t end = tag_end(i);
    const std::string_view attributes = rest.substr(i, end - at_ - std::min(i, end - at_));
    at_ = std::min(end + 1, html_.size());
    if (!closes && std::ranges::find(hidden, name) != hidden.end()) return skip_element(name);
    if (std::ranges::find(blocks, name) != blocks.end()) new_line();
    if (name == "pre") pre_ = !closes;
    if (name == "li" && !closes) text("- ");
    if (name == "a") link(closes, attributes);
  }

  // Where the tag ends that is being read: a ">" in quotes is none.
  size_t tag_end(size_t from) const {
    char quote = 0;
    for (size_t i = at_ + from; i < html_.size(); ++i) {
      const char c = html_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        return i;
      }
    }
    return html_.size();
  }

  void link(bool closes, std::string_view attributes) {
    if (!closes) {
      href_.clear();
      const size_t at = attributes.find("href=\"");
      if (at == std::string_view::npos) return;
      const std::string_view value = attributes.substr(at + 6);
      href_ = value.substr(0, std::min<size_t>(value.find('"'), 300));
      return;
    }
    if (href_.starts_with("http://") || href_.starts_with("https://")) text(" (" + href_ + ")");
    href_.clear();
  }

  void skip_behind(std::string_view mark, size_t from) {
    const size_t end = html_.find(mark, std::min(at_ + from, html_.size()));
    at_ = end == std::string_view::npos ? html_.size() : end + mark.size();
  }

  // Each is looked for once: a page full of <style> without an end is read in one go.
  void skip_element(const std::string& name) {
    for (size_t i = html_.find('<', at_); i != std::string_view::npos; i = html_.find('<', i + 1)) {
      const std::string_view rest = html_.substr(i);
      if (rest.size() < name.size() + 2 || rest[1] != '/') continue;
      const std::string_view found = rest.substr(2, name.size());
      if (!std::ranges::equal(found, name, {}, lower)) continue;
      at_ = i;
      const size_t end = html_.find('>', i);
      at_ = end == std::string_view::npos ? html_.size() : end + 1;
      return;
    }
    at_ = html_.size();
  }

  std::string_view html_;
  size_t at_ = 0;
  std::string out_;
  std::string href_;
  bool blank_ = false;
  bool pre_ = false;
};

}  // namespace

std::string html_text(std::string_view html) { return to_utf8(Reader(html).run()); }

}  // namespace errand::builtin
