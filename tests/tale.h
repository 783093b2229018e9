// A small Llama as llama2.c writes one, made up: the shapes of karpathy's stories260K, drawn weights, a vocabulary of
// syllables. With the folder of the real one in TRNSIM_STORIES260K, the tests of its text run too.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace tests {

/// 512 tokens: three special ones, 256 bytes, 95 characters, 158 syllables that merge from earlier tokens.
inline std::vector<std::string> tale_tokens() {
  std::vector<std::string> tokens{"<unk>", "\n<s>\n", "\n</s>\n"};
  for (int b = 0; b < 256; ++b) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "<0x%02X>", static_cast<unsigned>(b));
    tokens.emplace_back(text.data());
  }
  for (char c = ' '; c <= '~'; ++c) tokens.emplace_back(1, c);
  for (char c = 'a'; c <= 'z'; ++c) tokens.push_back(std::string{" "} + c);
  for (const char c : std::string{"bcdfghjklmnpqrstvwyz"})
    for (const char v : std::string{"aeiou"}) tokens.push_back(std::string{c} + v);
  for (const char c : std::string{"nrsltmd"})
    for (const char v : std::string{"aeiou"})
      if (tokens.size() < 512) tokens.push_back(std::string{v} + c);
  return tokens;
}

inline void write_tale(const std::filesystem::path& folder) {
  const auto put = [](std::ofstream& out, auto value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::ofstream vocabulary{folder / "tok512.bin", std::ios::binary};
  put(vocabulary, std::int32_t{7});
  float score = 0;
  for (const std::string& token : tale_tokens()) {
    put(vocabulary, score -= 1);
    put(vocabulary, static_cast<std::int32_t>(token.size()));
    vocabulary.write(token.data(), static_cast<std::streamsize>(token.size()));
  }
  std::ofstream model{folder / "tale.bin", std::ios::binary};
  constexpr int kHidden = 64, kFfn = 172, kLayers = 5, kHeads = 8, kKvHeads = 4, kVocabulary = 512, kPositions = 512;
  for (const int size : {kHidden, kFfn, kLayers, kHeads, kKvHeads, kVocabulary, kPositions})
    put(model, static_cast<std::int32_t>(size));
  std::mt19937 random{20};
  const auto draw = [&](int count) {
    for (int i = 0; i < count; ++i) put(model, (static_cast<float>(random()) / 4294967296.0F - 0.5F) * 0.2F);
  };
  const auto fill = [&](int count, float value) {
    for (int i = 0; i < count; ++i) put(model, value);
  };
  constexpr int kKv = kHidden * kKvHeads / kHeads;
  draw(kVocabulary * kHidden);
  fill(kLayers * kHidden, 1);
  draw(kLayers * kHidden * (kHidden + kKv + kKv + kHidden));
  fill(kLayers * kHidden, 1);
  draw(kLayers * kHidden * kFfn * 3);
  fill(kHidden, 1);
  fill(kPositions * kHidden / kHeads, 0);  // rotations, which readers compute themselves
}

/// The folder of the made-up model, written once in a process.
inline const std::filesystem::path& tale() {
  struct Folder {
    Folder() : path{std::filesystem::temp_directory_path() / ("trnsim_tale_" + std::to_string(getpid()))} {
      std::filesystem::create_directories(path);
      write_tale(path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
  };
  static const Folder folder;
  return folder.path;
}

/// The real stories260K; empty when it is not set.
inline std::string stories() {
  const char* folder = std::getenv("TRNSIM_STORIES260K");
  return folder ? folder : "";
}

inline constexpr const char* kNoStories = "TRNSIM_STORIES260K names no folder with stories260K.bin and tok512.bin";

}  // namespace tests
