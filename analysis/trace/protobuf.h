// The wire format of protocol buffers, writing only: what a trace needs, without generated code.
// Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace analysis {

/// One message under construction. Fields are written in the order of the calls.
class ProtoMessage {
 public:
  void whole(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3 | kVarint);
    varint(value);
  }
  void fixed(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3 | kFixed64);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift & 0xff));
  }
  void real(int field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  void real32(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | kFixed32);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift & 0xff));
  }
  void text(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | kBytes);
    varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const ProtoMessage& value) { text(field, value.bytes_); }
  /// The length of `value` and `value`: an item of a delimited stream.
  void delimited(const ProtoMessage& value) {
    varint(value.bytes_.size());
    bytes_.append(value.bytes_);
  }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  static constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace analysis
