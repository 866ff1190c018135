// QR codes (ISO/IEC 18004) for short texts: byte mode, error correction M, versions 1 to 10. Pure. Our own because it
// is all that a link needs: a library would be one more thing to link for one call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

inline constexpr size_t qr_bytes_max = 213;

class Qr {
 public:
  // Nothing where the text is longer than qr_bytes_max. `mask`: 0 to 7, for tests; else the best one.
  static std::optional<Qr> encode(std::string_view text, int mask = -1);

  int size() const { return size_; }  // Modules on a side, without the quiet zone.
  bool dark(int x, int y) const { return x >= 0 && y >= 0 && x < size_ && y < size_ && modules_[at(x, y)]; }

 private:
  explicit Qr(int version);
  size_t at(int x, int y) const { return static_cast<size_t>(y * size_ + x); }
  void set(int x, int y, bool dark);
  void draw_patterns();
  void draw_finder(int x, int y);
  void draw_format(int mask);
  void draw_codewords(const std::vector<unsigned char>& codewords);
  void apply_mask(int mask);
  int penalty() const;

  int version_, size_;
  std::vector<bool> modules_;
  std::vector<bool> fixed_;  // Belongs to a pattern: holds no data and is not masked.
};

// With its quiet zone, two modules to a character, a line feed behind each line. With colours it is black on white
// whatever the terminal's are; without, it takes the terminal to be light on dark.
std::string qr_text(const Qr& qr, bool colours);
// How wide that is.
int qr_columns(const Qr& qr);

}  // namespace errand::cli
