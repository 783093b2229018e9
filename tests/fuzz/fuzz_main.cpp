// libFuzzer's side: TRNSIM_FUZZ_TARGET names the reader. Built with -DTRNSIM_FUZZ=ON by clang alone (./dev fuzz).
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Target& target = [&]() -> const fuzz::Target& {
    const char* name = std::getenv("TRNSIM_FUZZ_TARGET");
    const auto found = std::ranges::find(fuzz::targets(), std::string_view{name ? name : ""}, &fuzz::Target::name);
    if (found != fuzz::targets().end()) return *found;
    std::fprintf(stderr, "TRNSIM_FUZZ_TARGET names no target; they are:");
    for (const fuzz::Target& one : fuzz::targets()) std::fprintf(stderr, " %s", one.name.data());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }();
  static const std::filesystem::path scratch = [] {
    const auto folder = std::filesystem::temp_directory_path() / ("trnsim-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    return folder;
  }();
  const std::string broken = fuzz::broken_promise(target, {reinterpret_cast<const char*>(data), size}, scratch);
  if (broken.empty()) return 0;
  std::fprintf(stderr, "%s\n", broken.c_str());
  std::abort();
}
