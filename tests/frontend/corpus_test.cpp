// Programs that others wrote, with known answers: they are read from where they are, and are no part of this
// repository.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/ops/refusals.h"
#include "frontend/stablehlo/reader.h"

namespace trnsim::frontend {
namespace {

namespace fs = std::filesystem;

fs::path programs() {
  const char* named = std::getenv("TRNSIM_FRONTEND");
  return (named != nullptr ? fs::path{named} : fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend") / "stablehlo";
}

struct Counts {
  int right = 0, refused = 0;
  std::vector<std::string> wrong = {};
};

void run(std::string_view text, const std::string& file, std::uint32_t line, Counts& counts) {
  try {
    const Module module = read_stablehlo(text, file, line);
    if (!refusals(module).empty()) {
      ++counts.refused;
      return;
    }
    Interpreter{module}.run(module.entry, {});
    ++counts.right;
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::kProgram && error.problem().find("are not taken") != std::string_view::npos)
      ++counts.refused;
    else
      counts.wrong.emplace_back(error.reason());
  }
}

/// Every program whose types and operators the compiler takes computes what it expects.
TEST(Corpus, ProgramsThatCheckThemselves) {
  Counts counts;
  for (const char* folder : {"testdata", "interpret"}) {
    if (!fs::is_directory(programs() / folder)) GTEST_SKIP() << "no programs in " << programs();
    for (const auto& entry : fs::directory_iterator{programs() / folder}) {
      const std::string content = base::read_file(entry.path());
      for (const ProgramText& part : split_programs(content))
        run(part.text, entry.path().filename().string(), part.line, counts);
    }
  }
  const int judged = counts.right + static_cast<int>(counts.wrong.size());
  fmt::print("{} right, {} wrong, {} refused\n", counts.right, counts.wrong.size(), counts.refused);
  for (const std::string& wrong : counts.wrong) fmt::print("  {}\n", wrong);
  EXPECT_GE(counts.right, 0.99 * judged);
  EXPECT_GE(counts.right, 900);
}

}  // namespace
}  // namespace trnsim::frontend
