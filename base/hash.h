// Content hashes for caches and for naming machines: XXH3, 64 bits. Not for security.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace base {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);

/// 16 lower-case hexadecimal digits.
std::string hash_text(std::uint64_t hash);

/// The hash of data that comes in pieces; pieces are not separated: add their lengths where that matters.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add(std::span<const std::byte> bytes);
  /// The length too, so that ("ab", "c") and ("a", "bc") differ.
  void add_text(std::string_view text);
  std::uint64_t digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The hash of the program or shared library that contains this code. Another build may answer differently, so cached
/// results have this hash in their keys. Computed once. Errors: as read_file().
std::uint64_t hash_of_own_code();

}  // namespace base
