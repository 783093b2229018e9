#include "analysis/export/tf_record.h"

#include <array>
#include <bit>

namespace analysis {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kCastagnoli : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int b = 0; b < bytes; ++b) out.push_back(static_cast<char>(value >> 8 * b & 0xff));
  return out;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xa282ead8;
}

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(bytes.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string{bytes} + little_endian(masked_crc32c(bytes), 4);
}

}  // namespace analysis
