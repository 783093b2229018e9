// HLO read from text and from the proto: the same module, and back.
#include "frontend/hlo/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "frontend/hlo/attributes.h"
#include "frontend/hlo/proto.h"
#include "frontend/hlo/text.h"

namespace trnsim::frontend::hlo {
namespace {

namespace fs = std::filesystem;

std::string corpus(const std::string& name) {
  return base::read_file(fs::path{TRNSIM_TEST_DIR} / "fuzz/corpus/hlo_text" / name);
}

std::string problem_of(const std::string& text) {
  try {
    read_text(text, "f");
  } catch (const base::Error& error) {
    return std::string{error.reason()};
  }
  return "";
}

std::string in_main(const std::string& line) { return "HloModule m\nENTRY main {\n" + line + "\n}\n"; }

TEST(HloFiles, TextAndProtoGiveTheSameModule) {
  for (const std::string name : {"loop", "forms"}) {
    const Module module = read_text(corpus(name), name);
    EXPECT_EQ(read_text(write_text(module), "again"), module) << name;
    EXPECT_EQ(read_bytes(write_proto(module), "proto"), module) << name;
  }
}

TEST(HloFiles, LoopIsReadAsItIsWritten) {
  const Module module = read_text(corpus("loop"), "loop");
  EXPECT_EQ(module.name, "small");
  EXPECT_EQ(module.partitions, 2);
  ASSERT_EQ(module.computations.size(), 4U);
  EXPECT_EQ(module.entry, 3U);
  const Computation& entry = module.computations[3];
  const Instruction& loop = entry.instructions[entry.root];
  EXPECT_EQ(loop.opcode, "while");
  EXPECT_EQ(loop.called, (std::vector<std::uint32_t>{1, 2}));  // body, condition
  const Instruction& sum = module.computations[0].instructions[2];
  EXPECT_EQ(sum.metadata.file, "train.py");
  EXPECT_EQ(sum.metadata.line, 7);
  const Held* groups = find(module.computations[1].instructions[5], "replica_groups");
  ASSERT_NE(groups, nullptr);
  EXPECT_EQ(std::get<IotaGroups>(*groups).ranks, 2);
}

TEST(HloFiles, FormsOfAttributes) {
  const Module module = read_text(corpus("forms"), "forms");
  const auto& all = module.computations[1].instructions;
  EXPECT_TRUE(all[1].literal->elided);
  EXPECT_EQ(rows_of(all[2], "window"), (Rows{{3, 1, 1, 1, 1, 1, 0}, {3, 1, 1, 1, 1, 1, 0}}));
  EXPECT_EQ(rows_of(all[2], "dim_labels"), (Rows{{0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}}));
  EXPECT_EQ(rows_of(all[6], "slice")[1], (Ints{0, 4, 2}));
  const Instruction& real = all[7];
  EXPECT_EQ(real.literal->bytes.size(), 16U);
  EXPECT_EQ(real.literal->bytes.substr(0, 4), std::string("\0\0\x80\x3f", 4));
  EXPECT_EQ(all[8].literal->bytes, "\x01\x02\x0f");
}

TEST(HloFiles, NumbersKeepTheirBits) {
  const std::string text = in_main(
      "a = f32[5] constant({-0, 1e-45, 3.40282347e+38, nan, -inf})\n"
      "b = bf16[3] constant({-2.383e+38, 1.001e-05, 0.1})\n"
      "c = s64[2] constant({-9223372036854775808, 9223372036854775807})\n"
      "d = f16[2] constant({65504, 6e-08})\n"
      "e = pred[2,0] constant({ {}, {} })\n"
      "f = s4[3] constant({-8, 7, -1})");
  const Module module = read_text(text, "f");
  const auto& all = module.computations[0].instructions;
  EXPECT_EQ(all[0].literal->bytes.substr(0, 8), std::string("\0\0\0\x80\1\0\0\0", 8));
  EXPECT_EQ(all[3].literal->bytes, std::string("\xff\x7b\1\0", 4));
  EXPECT_EQ(read_text(write_text(module), "again"), module);
  EXPECT_EQ(read_proto(write_proto(module), "proto"), module);
}

TEST(HloFiles, ErrorsSayTheLine) {
  EXPECT_EQ(problem_of(in_main("a = f32[] add(b, b)")),
            "f:3: no instruction b comes before this one in its computation");
  EXPECT_EQ(problem_of(in_main("a = f33[] parameter(0)")), "f:3: \"f33\" is not an element type");
  EXPECT_EQ(problem_of(in_main("a = f32[2] constant({1, 2, 3})")),
            "f:3: a constant has another number of elements than its shape");
  EXPECT_EQ(problem_of(in_main("a = f32[] parameter(0)\nb = f32[] call(a), to_apply=main")),
            "f:4: no computation main comes before this one");
  EXPECT_EQ(problem_of(in_main("a = f32[2] parameter(0)\nb = f32[2] transpose(a), dimension={0}")),
            "f:4: transpose has no attribute \"dimension\"");
  EXPECT_EQ(problem_of("HloModule m\nENTRY main {\na = f32[] parameter(0)"),
            "f:3: has the end of the text where an instruction is expected");
  EXPECT_EQ(problem_of(""), "f:1: has no computation");
}

// XLA's printer adds them; they change no number and no time.
TEST(HloFiles, HintsOfOtherCompilersArePassedOver) {
  const Module plain = read_text(in_main("a = f32[] parameter(0)\nb = f32[] negate(a)"), "f");
  EXPECT_EQ(read_text(in_main("a = f32[] parameter(0), parameter_replication={false}, origin={{\"a\"}}\n"
                              "b = f32[] negate(a), statistics={visualizing_index=0}, cross_program_prefetch_index=1"),
                      "f"),
            plain);
  EXPECT_EQ(read_text(in_main("a = f32[] parameter(0)\nb = f32[] domain(a), "
                              "domain={kind=\"sharding\", entry={maximal device=0}, exit={}}"),
                      "f")
                .computations[0]
                .instructions.size(),
            2U);
}

TEST(HloFiles, ProtoThatNamesWhatComesLaterIsRefused) {
  Module module = read_text(in_main("a = f32[] parameter(0)\nb = f32[] negate(a)"), "f");
  module.computations[0].instructions[0].operands = {1};  // a reads b, which reads a
  EXPECT_THROW(read_proto(write_proto(module), "p"), base::Error);
  EXPECT_THROW(read_proto("\x0a\x05model\x1a\x7f", "p"), base::Error);
  // A number where text belongs, after a whole module: it was read as a text of that many bytes.
  EXPECT_THROW(read_proto(write_proto(read_text(corpus("loop"), "loop")) + "\x08\x01m", "p"), base::Error);
}

TEST(HloFiles, CompileCacheGivesModulesWithTheirFlags) {
  const fs::path cache = fs::path{testing::TempDir()} / "hlo_cache";
  const fs::path place = cache / "neuronxcc-2.15.128.0+56dc5a86" / "MODULE_123+abc";
  fs::create_directories(place);
  std::ofstream{place / "model.hlo_module.pb", std::ios::binary} << write_proto(read_text(corpus("loop"), "loop"));
  std::ofstream{place / "compile_flags.json"} << R"(["--model-type=transformer", "-O1"])";
  const auto modules = modules_of(cache);
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].name, "MODULE_123+abc");
  EXPECT_EQ(modules[0].flags, (std::vector<std::string>{"--model-type=transformer", "-O1"}));
  EXPECT_EQ(read_file(modules[0].file).computations.size(), 4U);
  std::ofstream{place / "compile_flags.json"} << "3";
  EXPECT_THROW(modules_of(cache), base::Error);
  fs::remove_all(cache);
}

// The published modules are not ours: they are beside the sources, or the test is skipped.
TEST(HloFiles, PublishedModulesSurviveTextAndProto) {
  const fs::path folder = fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend/hlo";
  if (!fs::exists(folder)) GTEST_SKIP() << "no published modules beside the sources";
  int count = 0;
  for (const auto& entry : fs::directory_iterator{folder}) {
    const Module module = read_file(entry.path());
    EXPECT_EQ(read_text(write_text(module), "again"), module) << entry.path();
    EXPECT_EQ(read_bytes(write_proto(module), "proto"), module) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 21);
}

}  // namespace
}  // namespace trnsim::frontend::hlo
