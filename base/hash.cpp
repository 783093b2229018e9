#include "base/hash.h"

#include <dlfcn.h>
#include <fmt/format.h>

#define XXH_INLINE_ALL  // the header alone, no library; how xxHash wants it asked for
#include <xxhash.h>

#include "base/files.h"

namespace base {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) { return hash64(std::as_bytes(std::span{text}), seed); }

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

struct Hasher::State {
  XXH3_state_t xxh;  // aligned to 64 bytes by its own declaration; operator new honours that
};

Hasher::Hasher() : state_{std::make_unique<State>()} { XXH3_64bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;

void Hasher::add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size()); }

void Hasher::add_text(std::string_view text) {
  const std::uint64_t size = text.size();
  add(std::as_bytes(std::span{&size, 1}));
  add(std::as_bytes(std::span{text}));
}

std::uint64_t Hasher::digest() const { return XXH3_64bits_digest(&state_->xxh); }

std::uint64_t hash_of_own_code() {
  static const std::uint64_t hash = [] {
    Dl_info info{};
    const bool library = ::dladdr(reinterpret_cast<void*>(&hash_of_own_code), &info) != 0 && info.dli_fname &&
                         std::string_view{info.dli_fname}.find(".so") != std::string_view::npos;
    // Reads the running image: the program's file may have been replaced since, and argv[0] may be any name.
    return hash64(read_file(library ? info.dli_fname : "/proc/self/exe"));
  }();
  return hash;
}

}  // namespace base
