// Every input that ever broke a reader, deeply nested input, and changes of the known ones at random: each is answered,
// or refused with an error that is not our own fault.
#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "base/files.h"
#include "base/philox.h"
#include "tests/cpu_time.h"
#include "tests/fuzz/targets.h"

namespace {

namespace fs = std::filesystem;

class Replay : public testing::TestWithParam<fuzz::Target> {
 protected:
  void SetUp() override { fs::create_directories(scratch_); }
  void TearDown() override { fs::remove_all(scratch_); }

  void expect_kept(const std::string& bytes, const std::string& name) const {
    const tests::CpuTime took;
    EXPECT_EQ(fuzz::broken_promise(GetParam(), bytes, scratch_), "") << name;
    EXPECT_LT(took.seconds(), 10) << name;
  }
  std::map<std::string, std::string> corpus() const {
    std::map<std::string, std::string> files{{"empty", ""}};
    const fs::path folder = fs::path{TRNSIM_TEST_DIR} / "fuzz/corpus" / GetParam().name;
    if (fs::exists(folder))
      for (const auto& entry : fs::directory_iterator{folder})
        files[entry.path().filename()] = base::read_file(entry.path());
    return files;
  }

  const fs::path scratch_ =
      fs::path{testing::TempDir()} / ("replay_" + std::string{GetParam().name} + "_" + std::to_string(getpid()));
};

TEST_P(Replay, TheCorpus) {
  for (const auto& [name, bytes] : corpus()) expect_kept(bytes, name);
}

TEST_P(Replay, DeeplyNestedInput) {
  const auto times = [](std::string_view text, int count) {
    std::string out;
    while (count-- > 0) out += text;
    return out;
  };
  for (const int depth : {150, 100'000})
    for (const char* open : {"[", "{\"a\":", "a = [", "a.", "(", "[a."})
      for (const char* first : {"", "\x01", "\x02", "x = "}) expect_kept(first + times(open, depth), open);
  // A safetensors header says its length first.
  const std::string header = times("[", 100'000);
  std::string size(8, '\0');
  for (int i = 0; i < 8; ++i) size[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i));
  expect_kept(size + header, "header");
}

TEST_P(Replay, RandomMutations) {
  constexpr int kChanged = 40;  // of each known input; ./dev fuzz does millions
  base::PhiloxStream random{5};
  const auto below = [&](std::size_t end) {
    return static_cast<std::size_t>(random.uniform() * static_cast<float>(end));
  };
  for (const auto& [name, bytes] : corpus()) {
    for (int n = 0; n < kChanged && !bytes.empty(); ++n) {
      std::string changed = bytes;
      for (std::size_t edit = 0; edit < 1 + below(4); ++edit) {
        const std::size_t at = below(changed.size());
        const std::size_t how = below(4);
        if (how == 0) changed[at] = static_cast<char>(below(256));
        if (how == 1) changed.erase(at, 1 + below(8));
        if (how == 2) changed.insert(at, changed.substr(below(changed.size()), below(16)));
        if (how == 3) changed.insert(at, std::to_string(below(2) ? 4294967296 : -1));
        if (changed.empty()) break;
      }
      expect_kept(changed, name + ", change " + std::to_string(n));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Replay, testing::ValuesIn(fuzz::targets().begin(), fuzz::targets().end()),
                         [](const auto& info) { return std::string{info.param.name}; });

}  // namespace
