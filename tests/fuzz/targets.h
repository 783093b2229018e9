// Readers of foreign bytes, one function each: for libFuzzer (./dev fuzz) and for the test that replays
// the corpus.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace fuzz {

struct Target {
  std::string_view name;  // also of its folder in tests/fuzz/corpus
  /// Reads `bytes` as a user's file in the folder `scratch`, and uses what was read as the verbs do.
  void (*read)(std::string_view bytes, const std::filesystem::path& scratch);
};

std::span<const Target> targets();

/// The promise of every reader: it answers, or throws a base::Error that is not our own fault. Returns what broke it,
/// empty when nothing did.
std::string broken_promise(const Target& target, std::string_view bytes, const std::filesystem::path& scratch);

}  // namespace fuzz
