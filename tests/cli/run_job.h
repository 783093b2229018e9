// A job small enough for a test: a two-layer BERT from tests/golden, a vocabulary, a data set, a scratch folder.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/cli/run_binary.h"

namespace cli_test {

class SmallJob : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path{testing::TempDir()} /
              (std::string{"trnsim-"} + info.test_suite_name() + info.name() + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "bert");
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy(std::filesystem::path{TRNSIM_TEST_DIR} / "golden/bert_tiny" / file,
                            folder_ / "bert" / file);
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ni\nfeel\nhappy\nsad\nfine\n");
    std::string rows = "text,label\n";
    for (int i = 0; i < 24; ++i) rows += i % 2 ? "i feel fine,1\n" : "i feel sad sad,0\n";
    write("data.csv", rows);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string at(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view text) const {
    std::ofstream{folder_ / name, std::ios::binary} << text;
  }
  /// Replaces the first `old` in a file; a test must not go on with a file that it did not change.
  void edit(std::string_view name, std::string_view old, std::string_view text) const {
    std::string content = slurp(folder_ / name);
    const std::size_t place = content.find(old);
    ASSERT_NE(place, std::string::npos) << old;
    write(name, content.replace(place, old.size(), text));
  }

  /// The flags of the job without those that tests vary.
  std::string flags() const {
    return "run bert_emotion --model_id " + at("bert") + " --vocab " + at("vocab.txt") +
           " --per_device_train_batch_size 4 --nproc_per_node 1 --learning_rate 1e-3";
  }
  /// Trains in `mode` with more flags; results go to the folder `out`.
  Ran train(const std::string& out, const std::string& more = "", const std::string& mode = "numeric") const {
    return run(flags() + " --dataset_path " + at("data.csv") + " --max_length 32 --max_steps 3 --mode " + mode +
               " --output_dir " + at(out) + " " + more);
  }
  /// Exit code 2, these words and a fix on stderr, nothing on stdout and no folder `out`.
  void expect_refused(const Ran& ran, const std::string& words, const std::string& out = "out") const {
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, testing::HasSubstr(words));
    EXPECT_THAT(ran.err, testing::HasSubstr("\n  fix: "));
    EXPECT_FALSE(std::filesystem::exists(folder_ / out)) << "something was written";
  }

  std::filesystem::path folder_;
};

}  // namespace cli_test
