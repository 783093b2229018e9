#include "base/param_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace base {
namespace {

using enum Dimension;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kMachine = R"(name = "trn1.2xlarge"
parts = ["hbm", "tensor"]

[hbm]
bandwidth = { value = "410 GB/s", source = "ARCH" }
stacks = { value = 2, source = "TRN" }

[tensor]
clock = { value = "2.8 GHz", source = "NKI arch guide v2", text = "of the PE array" }
fp32_passes = { value = 4, source = "ISA" }

[host]
launch = { value = "0.21 ms", source = "fit", fitted_on = ["gemm_8192", "launch_1"] }
curve = { value = ["1 us", "2.5 us"], source = "A25" }
overlap = { value = true, source = "OVER" }
)";

ParamFile machine() { return ParamFile::parse(kMachine, "m.toml"); }

std::string error_of(auto call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage) << error.what();
    return error.what();
  }
  return "no error";
}

std::string parse_error(std::string_view toml) {
  return error_of([&] { ParamFile::parse(toml, "m.toml"); });
}

void read_all(ParamFile& file) {
  file.read_string("name");
  file.read_strings("parts");
  file.read("hbm.bandwidth", kBandwidth);
  file.read_count("hbm.stacks");
  file.read("tensor.clock", kFrequency);
  file.read_count("tensor.fp32_passes");
  file.read("host.launch", kTime);
  file.read_list("host.curve", kTime);
  file.read_flag("host.overlap");
}

TEST(ParamFile, ReadsValuesInBaseUnitsWithTheirSource) {
  ParamFile file = machine();
  const Sourced<double> clock = file.read("tensor.clock", kFrequency);
  EXPECT_EQ(clock.value, 2.8e9);
  EXPECT_EQ(clock.source, "NKI arch guide v2");
  EXPECT_EQ(file.read_count("hbm.stacks").value, 2);
  EXPECT_EQ(file.read_string("name").value, "trn1.2xlarge");
  EXPECT_THAT(file.read_strings("parts").value, ElementsAre("hbm", "tensor"));
  EXPECT_THAT(file.read_list("host.curve", kTime).value, ElementsAre(1e-6, 2.5e-6));
  EXPECT_TRUE(file.read_flag("host.overlap").value);
  EXPECT_THAT(file.parameter("host.launch").fitted_on, ElementsAre("gemm_8192", "launch_1"));
  EXPECT_EQ(file.parameter("tensor.clock").text, "of the PE array");
}

TEST(ParamFile, AnExplanationPrecedesTheTextOfTheFile) {
  ParamFile file = machine();
  const std::uint64_t before = file.hash();
  for (int twice = 0; twice < 2; ++twice) file.explain("tensor.clock", "a clock");
  file.explain("host.launch", "time of a launch");
  EXPECT_EQ(file.parameter("tensor.clock").text, "a clock; of the PE array");
  EXPECT_EQ(file.parameter("host.launch").text, "time of a launch");
  EXPECT_EQ(file.hash(), before);
  EXPECT_THROW(file.explain("host.lunch", "?"), base::Error);
}

TEST(ParamFile, AKeyOfManyPartsIsRefusedBeforeItsTablesAreMade) {
  std::string parts;
  for (int i = 0; i < 100'000; ++i) parts += "a.";
  for (const std::string& text : {"x = 1\n" + parts + "b = 1\n", "[" + parts + "b]\n"})
    EXPECT_THROW(ParamFile::parse(text, "deep.toml"), Error);
  const std::string prose(1000, '.');
  EXPECT_NO_THROW(ParamFile::parse("# " + prose + "\nx = \"" + prose + "\"\n", "prose.toml"));
}

TEST(ParamFile, AMissingKeyPointsAtTheUnreadOneThatIsMeant) {
  ParamFile file = ParamFile::parse("[hbm]\nbandwith = { value = \"1 GB/s\", source = \"x\" }", "m.toml");
  const std::string message = error_of([&] { file.read("hbm.bandwidth", kBandwidth); });
  EXPECT_THAT(message, HasSubstr("m.toml:2: key \"hbm.bandwidth\" is missing"));
  EXPECT_THAT(message, HasSubstr("rename \"hbm.bandwith\""));
}

TEST(ParamFile, AMissingOrWrongUnitIsAnErrorWithTheLine) {
  ParamFile file = machine();
  EXPECT_THAT(error_of([&] { file.read("hbm.stacks", kBytes); }),
              HasSubstr("m.toml:6: hbm.stacks: \"2\" is a plain number"));
  EXPECT_THAT(error_of([&] { file.read("tensor.clock", kTime); }), HasSubstr("must be a time"));
}

TEST(ParamFile, ANumberWithoutASourceIsRefused) {
  const auto number = [](const char* toml) {
    return error_of([&] { ParamFile::parse(toml, "m.toml").read_count("a"); });
  };
  EXPECT_THAT(number("a = 2"), HasSubstr("m.toml:1: \"a\" has no source"));
  EXPECT_THAT(number("a = 2"), HasSubstr("write a = { value = \"2\", source = \"...\" }"));
  EXPECT_THAT(parse_error("a = { value = \"1 s\" }"), HasSubstr("\"a\" has no source"));
  EXPECT_THAT(parse_error("a = { value = \"1 s\", source = \"\" }"), HasSubstr("is empty"));
  EXPECT_THAT(parse_error("a = { source = \"x\" }"), HasSubstr("\"a\" has no value"));
  ParamFile bare = ParamFile::parse("clock = \"2.8 GHz\"", "m.toml");
  EXPECT_THAT(error_of([&] { bare.read("clock", kFrequency); }), HasSubstr("\"clock\" has no source"));
}

TEST(ParamFile, AMisspeltFieldIsAnErrorWithASuggestion) {
  const std::string message = parse_error("\n[t]\na = { value = \"1 s\", source = \"x\", fited_on = [\"y\"] }");
  EXPECT_THAT(message, HasSubstr("m.toml:3"));
  EXPECT_THAT(message, HasSubstr("write \"fitted_on\""));
}

TEST(ParamFile, BrokenTomlIsAnErrorWithTheLine) {
  EXPECT_THAT(parse_error("a = \"x\"\nb = = 3"), HasSubstr("m.toml:2"));
  EXPECT_THAT(parse_error("\"a b\" = \"x\""), HasSubstr("has a character other than"));
  EXPECT_THAT(parse_error("d = 2026-01-01"), HasSubstr("is not text, a number, true or false"));
}

TEST(ParamFile, AnUnreadKeyIsRejectedWithASuggestion) {
  ParamFile file = machine();
  read_all(file);
  EXPECT_NO_THROW(file.reject_unread());
  ParamFile misspelt = ParamFile::parse("[t]\nclok = { value = \"1 GHz\", source = \"x\" }", "m.toml");
  EXPECT_ANY_THROW(misspelt.read("t.clock", kFrequency));
  const std::string message = error_of([&] { misspelt.reject_unread(); });
  EXPECT_THAT(message, HasSubstr("m.toml:2: nothing reads the key \"t.clok\""));
  EXPECT_THAT(message, HasSubstr("write \"t.clock\" or remove it"));
}

TEST(ParamFile, KeysLeftToAnotherReaderAreNotRejected) {
  ParamFile file = machine();
  file.ignore("host");
  file.ignore("hbm");
  file.ignore("tensor");
  file.read_string("name");
  EXPECT_THAT(error_of([&] { file.reject_unread(); }), HasSubstr("\"parts\""));
  file.ignore("parts");
  EXPECT_NO_THROW(file.reject_unread());
}

TEST(ParamFile, AnOverrideReplacesOrMultiplies) {
  ParamFile file = machine();
  file.set("hbm.bandwidth=1.6TB/s");
  EXPECT_EQ(file.read("hbm.bandwidth", kBandwidth).value, 1.6e12);
  file.set("tensor.clock", "2x");
  const Sourced<double> clock = file.read("tensor.clock", kFrequency);
  EXPECT_EQ(clock.value, 5.6e9);
  EXPECT_EQ(clock.source, "set to 2x, instead of 2.8 GHz: NKI arch guide v2");
  file.set("host.curve", "0.5x");
  EXPECT_THAT(file.read_list("host.curve", kTime).value, ElementsAre(0.5e-6, 1.25e-6));
  file.set("host.curve", "3 us,4 us,5 us");
  EXPECT_THAT(file.read_list("host.curve", kTime).value, ElementsAre(3e-6, 4e-6, 5e-6));
  file.set("name", "mine");
  EXPECT_EQ(file.read_string("name").value, "mine");
  file.set("host.overlap", "false");
  EXPECT_FALSE(file.read_flag("host.overlap").value);
  file.set("host.launch", "1 ms");
  EXPECT_TRUE(file.parameter("host.launch").fitted_on.empty());
}

TEST(ParamFile, ABadOverrideIsAnError) {
  ParamFile file = machine();
  const std::string misspelt = error_of([&] { file.set("hbm.bandwith=1 TB/s"); });
  EXPECT_THAT(misspelt, HasSubstr("`set` hbm.bandwith: m.toml has no such key"));
  EXPECT_THAT(misspelt, HasSubstr("write \"hbm.bandwidth\""));
  EXPECT_THAT(error_of([&] { file.set("hbm.bandwidth=3 GHz"); }), HasSubstr("must be a bandwidth"));
  EXPECT_THAT(error_of([&] { file.set("hbm.bandwidth=fast"); }), HasSubstr("does not begin with a number"));
  EXPECT_THAT(error_of([&] { file.set("hbm.bandwidth="); }), HasSubstr("has no value"));
  EXPECT_THAT(error_of([&] { file.set("hbm.bandwidth"); }), HasSubstr("is not KEY=VALUE"));
  EXPECT_EQ(file.read("hbm.bandwidth", kBandwidth).value, 410e9);  // unharmed
}

TEST(ParamFile, ListsAndSinglesDoNotPassForEachOther) {
  ParamFile file = machine();
  EXPECT_THAT(error_of([&] { file.read("host.curve", kTime); }), HasSubstr("is a list"));
  EXPECT_THAT(error_of([&] { file.read_list("host.launch", kTime); }), HasSubstr("is not a list"));
  EXPECT_THAT(error_of([&] { file.read_strings("name"); }), HasSubstr("is not a list"));
  EXPECT_THAT(error_of([&] { file.read_flag("name"); }), HasSubstr("must be true or false"));
  EXPECT_THAT(error_of([&] { file.read_count("host.launch"); }), HasSubstr("must be a whole number"));
}

TEST(ParamFile, TheDumpLoadsBackToTheSame) {
  ParamFile file = ParamFile::parse(kMachine, "m.toml");
  file.set("tensor.clock", "0.3x");
  file.set("name", "quote \" backslash \\ tab \t µ");
  ParamFile again = ParamFile::parse(file.to_toml(), "machine.toml");
  EXPECT_EQ(again.to_toml(), file.to_toml());
  EXPECT_EQ(again.hash(), file.hash());
  EXPECT_EQ(again.keys(), file.keys());
  EXPECT_EQ(again.read("tensor.clock", kFrequency).value, 2.8e9 * 0.3);
  EXPECT_EQ(again.read_string("name").value, "quote \" backslash \\ tab \t µ");
  EXPECT_THAT(again.parameter("host.launch").fitted_on, ElementsAre("gemm_8192", "launch_1"));
}

TEST(ParamFile, TheHashSeesValuesAndNotHowTheyAreWritten) {
  const auto hash = [](std::string_view toml) { return ParamFile::parse(toml, "m").hash(); };
  const auto reference = hash("a = { value = \"410 GB/s\", source = \"x\" }");
  EXPECT_EQ(reference, hash("a = { value = \"0.41 TB/s\", source = \"y\" }"));
  EXPECT_NE(reference, hash("a = { value = \"411 GB/s\", source = \"x\" }"));
  EXPECT_NE(reference, hash("b = { value = \"410 GB/s\", source = \"x\" }"));
}

TEST(ParamFile, TablesInAnArrayGetTheirIndexAsKey) {
  ParamFile file = ParamFile::parse("[[layer]]\nkind = \"a\"\n[[layer]]\nkind = \"b\"\n", "m");
  EXPECT_THAT(file.keys("layer"), ElementsAre("layer.0.kind", "layer.1.kind"));
  EXPECT_EQ(ParamFile::parse(file.to_toml(), "m").read_string("layer.1.kind").value, "b");
}

class Inherits : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path{testing::TempDir()} / ("param_file_inherits_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write_file(folder_ / "base.toml", kMachine);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ParamFile load(std::string_view toml) {
    write_file(folder_ / "own.toml", toml);
    return ParamFile::load(folder_ / "own.toml");
  }

  std::filesystem::path folder_;
};

TEST_F(Inherits, ReplacesKeyByKeyAndKeepsTheRest) {
  ParamFile file = load(
      "inherits = \"base.toml\"\n[hbm]\nbandwidth = { value = \"2x\", source = \"what if\" }\n"
      "[link]\nports = { value = 4, source = \"TRN\" }\n");
  EXPECT_EQ(file.read("hbm.bandwidth", kBandwidth).value, 820e9);
  EXPECT_EQ(file.parameter("hbm.bandwidth").source, "what if");
  EXPECT_EQ(file.read("tensor.clock", kFrequency).value, 2.8e9);
  EXPECT_EQ(file.read_count("link.ports").value, 4);
  EXPECT_FALSE(file.has("inherits"));
  EXPECT_THAT(error_of([&] { file.read("tensor.clock", kTime); }), HasSubstr("base.toml:9"));
}

TEST_F(Inherits, AFileOfTrnsimIsNamedByItsPlaceThere) {
  ParamFile file = load("inherits = \"hw/params/trn1.2xlarge.toml\"\nname = \"mine\"\n");
  EXPECT_EQ(file.read_count("chip.cores").value, 2);
  EXPECT_EQ(file.read_string("name").value, "mine");
  EXPECT_THAT(error_of([&] { load("inherits = \"hw/params/trn9.toml\""); }), HasSubstr("which does not exist"));
}

TEST_F(Inherits, ChangesNoDimension) {
  const std::string message =
      error_of([&] { load("inherits = \"base.toml\"\n[hbm]\nbandwidth = { value = \"2 s\", source = \"x\" }\n"); });
  EXPECT_THAT(message, HasSubstr("own.toml:3"));
  EXPECT_THAT(message, HasSubstr("must be a bandwidth"));
}

TEST_F(Inherits, ACircleOrAMissingFileIsAnError) {
  EXPECT_THAT(error_of([&] { load("inherits = \"own.toml\""); }), HasSubstr("inherits from itself"));
  EXPECT_THAT(error_of([&] { load("inherits = \"no.toml\""); }), HasSubstr("own.toml:1: inherits"));
  EXPECT_THAT(error_of([&] { ParamFile::load(folder_ / "none.toml"); }), HasSubstr("is not a file"));
}

}  // namespace
}  // namespace base
