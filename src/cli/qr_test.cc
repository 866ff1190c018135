#include "cli/qr.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace errand::cli {
namespace {

// The modules under all eight masks, row by row, as another implementation draws them: QRCode for JavaScript by
// Kazuhiko Arase (in npm's qrcode-terminal), error correction M.
struct Drawn {
  std::string text;
  int size;
  uint64_t hash;
};
const std::vector<Drawn> drawn = {
    {"a", 21, 0x9c5b1d06c2dc1165},
    {"https://errand.example/pair#ABCDEFGH", 29, 0x5058f27b8a15354a},
    {"http://127.0.0.1:4747/pair#ABCDEFGH", 29, 0x330e58aaaadad3de},
    {std::string(62, 'x'), 33, 0x6cf996124a1017d3},
    {std::string(84, 'x'), 37, 0x660e500d1c327e26},
    {std::string(106, 'y'), 41, 0x263f580d1d5834de},
    {std::string(120, 'z'), 45, 0xeba543205ce4ebec},
    {"https://a-long-name.some-tailnet.ts.net/" + std::string(110, 'p'), 49, 0x31ce315b3ef4e0b},
    {std::string(180, 'w'), 53, 0x387c1984b9a922aa},
    {std::string(213, 'v'), 57, 0xb565b0e7d6e5fc10},
};

std::string modules(const Qr& qr) {
  std::string out;
  for (int y = 0; y < qr.size(); ++y)
    for (int x = 0; x < qr.size(); ++x) out += qr.dark(x, y) ? '1' : '0';
  return out;
}

TEST(QrCode, IsDrawnAsOthersDrawIt) {
  for (const Drawn& known : drawn) {
    std::string all;
    for (int mask = 0; mask < 8; ++mask) {
      const std::optional<Qr> qr = Qr::encode(known.text, mask);
      ASSERT_TRUE(qr);
      EXPECT_EQ(qr->size(), known.size);
      all += modules(*qr);
    }
    EXPECT_EQ(fnv_hash(all), known.hash) << known.text;
  }
}

TEST(QrCode, TheBestMaskIsOneOfTheEight) {
  for (const Drawn& known : drawn) {
    const std::string best = modules(*Qr::encode(known.text));
    int same = 0;
    for (int mask = 0; mask < 8; ++mask) same += modules(*Qr::encode(known.text, mask)) == best ? 1 : 0;
    EXPECT_EQ(same, 1) << known.text;
  }
}

TEST(QrCode, WhatIsTooLongHasNone) {
  EXPECT_TRUE(Qr::encode(std::string(qr_bytes_max, 'x')));
  EXPECT_FALSE(Qr::encode(std::string(qr_bytes_max + 1, 'x')));
  EXPECT_TRUE(Qr::encode(""));
}

TEST(QrCode, ATextHasItsQuietZoneAndTwoModulesToACharacter) {
  const Qr qr = *Qr::encode("a");
  const std::string plain = qr_text(qr, false), colours = qr_text(qr, true);
  EXPECT_EQ(std::ranges::count(plain, '\n'), (21 + 8 + 1) / 2);
  EXPECT_EQ(qr_columns(qr), 29);
  std::string row;
  for (int i = 0; i < 29; ++i) row += "█";
  EXPECT_TRUE(plain.starts_with(row + "\n" + row + "\n")) << "light, on a dark terminal";
  const std::string set = "\033[38;5;16;48;5;231m";
  EXPECT_TRUE(colours.starts_with(set + std::string(29, ' ') + "\033[0m\n")) << "white, on any terminal";
}

}  // namespace
}  // namespace errand::cli
