// Reads every #include of the tree and checks it against the layers: the allowed includes, and the one folder that uses
// a third-party library. Also the form of lines and headers. A new library is a new row here. Rules about the rest of
// a source are in rules_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "tests/base/source_text.h"

namespace base {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string, std::less<>>;

constexpr std::size_t kMaxColumns = 120;

/// The allowed includes of a folder besides itself and base/: folders, or single headers; tests/ see everything.
const std::map<std::string, Names, std::less<>> kLayers = {
    {"base", {}},
    {"isa", {}},
    {"hw", {"isa"}},
    {"runtime", {"isa"}},
    {"frontend", {"runtime", "isa"}},
    {"workloads", {"runtime", "isa/device.h", "isa/program.h", "isa/target.h", "isa/flops.h"}},  // run by jobs
    {"analysis", {"isa", "hw/trace.h"}},
    {"trnsim", {"isa", "hw", "runtime", "frontend", "workloads", "analysis"}},
    {"include", {"isa", "hw", "runtime", "workloads", "analysis", "trnsim"}},  // the headers of trnsim/'s API
    {"validation", {"isa", "hw", "runtime", "workloads", "analysis", "trnsim"}},
    {"cli", {"analysis", "trnsim", "validation"}},
    {"python",
     {"analysis", "trnsim", "validation", "workloads/jobs/workload.h", "runtime/nki/trace.h", "isa/dtype.h",
      "isa/names.h", "hw/params.h", "runtime/graph/numerics.h", "frontend/interpret/interpreter.h",
      "frontend/stablehlo/reader.h"}},
    {"tests", {"isa", "hw", "runtime", "frontend", "workloads", "analysis", "trnsim", "validation", "cli", "tests"}},
};

/// Third-party headers, by name or by the folder before the slash, and the allowed includers besides tests/: folders,
/// or single files.
const std::map<std::string, Names, std::less<>> kLibraries = {
    {"fmt", {"base", "isa", "hw", "runtime", "frontend", "workloads", "analysis", "trnsim", "validation", "cli"}},
    {"nlohmann",
     {"base", "runtime", "frontend", "workloads", "analysis", "trnsim", "include", "validation", "cli", "python"}},
    {"toml++", {"base"}},
    {"spdlog", {"base"}},
    {"xxhash.h", {"base"}},
    {"zstd.h", {"runtime"}},
    {"immintrin.h", {"isa"}},
    // The allocator is tuned for the whole process, and gives back what is free before children copy it.
    {"malloc.h", {"cli/main.cpp", "base/process_pool.cpp"}},
    {"systemc", {"hw"}},
    {"tlm", {"hw"}},
    {"boost", {"hw/network/topology.cpp"}},  // the shortest ways through the torus, used nowhere else
    {"csv.h", {"base"}},
    {"pcre2.h", {"base"}},
    {"SQLiteCpp", {"analysis"}},
    {"sqlite3.h", {"analysis"}},  // its error codes
    {"protozero", {"analysis", "frontend"}},
    {"zlib.h", {"frontend"}},
    {"kainjow", {"analysis/report/page.cpp"}},
    {"google", {}},  // protobuf: tests read traces back with it
    {"utf8proc.h", {"base", "workloads"}},
    {"sentencepiece_processor.h", {"workloads"}},
    {"png.h", {"workloads"}},
    {"jpeglib.h", {"workloads"}},
    {"jerror.h", {"workloads"}},
    {"CLI", {"cli"}},
    {"pybind11", {"python"}},
    {"Python.h", {"python/nki/dtypes.cpp"}},
    {"structmember.h", {"python/torch/layout.cpp"}},  // Python's: where slots are in an object's memory
    {"numpy", {"python/nki/dtypes.cpp"}},
    {"poll.h", {}},
    {"pty.h", {}},
    {"utmp.h", {}},
    {"gtest", {}},
    {"gmock", {}},
    {"benchmark", {}},
};

/// POSIX and Linux: allowed everywhere. The C++ library's headers have neither dot nor slash.
const Names kSystem = {"dlfcn.h", "fcntl.h", "pthread.h", "sched.h", "signal.h", "sys", "unistd.h", "linux", "cpuid.h"};

/// Macros that a library wants to be asked with.
const Names kMacros = {"XXH_INLINE_ALL", "NPY_NO_DEPRECATED_API", "PCRE2_CODE_UNIT_WIDTH"};

struct Line {
  std::string_view path;  // from the root: "hw/memory/dma.cpp"
  std::size_t number;
  std::string_view text;

  std::string_view folder() const { return path.substr(0, path.find('/')); }
  bool in_header() const { return path.ends_with(".h"); }
  std::string complaint(std::string_view what) const { return fmt::format("{}:{}: {}", path, number, what); }
};

/// Their public headers are directly in the folder; elsewhere a header is beside its source.
const Names kInternalRooms = {"base", "isa", "hw", "cli"};

std::string_view before_slash(std::string_view name) { return name.substr(0, name.find('/')); }

/// Empty, or the error in folder `from` including our own header `name`.
std::string judge_own(std::string_view from, std::string_view name) {
  const std::string_view to = before_slash(name);
  if (!kLayers.contains(to)) return fmt::format("\"{}\" is not a path from the root", name);
  if (name.find("..") != std::string_view::npos) return fmt::format("\"{}\" goes up", name);
  const Names& allowed = kLayers.find(from)->second;
  if (to != from && from != "tests" && kInternalRooms.contains(to) && std::ranges::count(name, '/') > 1)
    return fmt::format("\"{}\" is internal to {}/", name, to);
  if (to == from || to == "base" || allowed.contains(to) || allowed.contains(name)) return {};
  return fmt::format("{}/ may not include \"{}\"", from, name);
}

/// As above, for <name> in the file `path`.
std::string judge_library(std::string_view path, std::string_view name) {
  const std::string_view from = before_slash(path);
  const std::string_view root = before_slash(name);
  if (kSystem.contains(root)) return {};
  const auto library = kLibraries.find(root);
  if (library != kLibraries.end()) {
    if (from == "tests" || library->second.contains(from) || library->second.contains(path)) return {};
    return fmt::format("{}/ may not use <{}>", from, name);
  }
  if (name.find_first_of("./") == std::string_view::npos) return {};  // the C++ library
  return fmt::format("<{}> is a library without a row in kLibraries", name);
}

std::string judge_include(const Line& line) {
  const std::size_t open = line.text.find_first_of("<\"");
  if (open == std::string_view::npos) return "an #include that this test cannot read";
  const char close = line.text[open] == '<' ? '>' : '"';
  const std::size_t end = line.text.find(close, open + 1);
  if (end == std::string_view::npos) return "an #include that does not end";
  const std::string_view name = line.text.substr(open + 1, end - open - 1);
  return close == '>' ? judge_library(line.path, name) : judge_own(line.folder(), name);
}

/// Characters of a UTF-8 line.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

/// The text after "#`directive`" when the line is that preprocessor directive.
std::string_view after(std::string_view text, std::string_view directive) {
  const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size())); };
  skip_blanks();
  if (!text.starts_with('#')) return {};
  text.remove_prefix(1);
  skip_blanks();
  if (!text.starts_with(directive)) return {};
  text.remove_prefix(directive.size());
  skip_blanks();
  return text;
}

std::string judge_layer(const Line& line) {
  return after(line.text, "include").empty() ? std::string{} : judge_include(line);
}

std::string judge_form(const Line& line) {
  if (columns(line.text) > kMaxColumns) return fmt::format("{} columns, at most {}", columns(line.text), kMaxColumns);
  if (line.text.find('\t') != std::string_view::npos) return "a tab";
  if (const std::string_view macro = after(line.text, "define"); !macro.empty()) {
    const std::string_view name = macro.substr(0, macro.find_first_of(" ("));
    if (!kMacros.contains(name)) return fmt::format("a macro of our own: {}", name);
  }
  if (line.in_header() && line.text.find("using namespace ") != std::string_view::npos)
    return "using namespace in a header";
  return {};
}

using Complaints = std::vector<std::string>;

Complaints judge_lines(std::string_view path, const std::string& content, std::string (*rule)(const Line&)) {
  Complaints complaints;
  std::istringstream in{content};
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    const Line line{path, number, text};
    if (const std::string what = rule(line); !what.empty()) complaints.push_back(line.complaint(what));
  }
  return complaints;
}

Complaints layer_complaints(std::string_view path, const std::string& content) {
  return judge_lines(path, content, judge_layer);
}

Complaints form_complaints(std::string_view path, const std::string& content) {
  Complaints complaints = judge_lines(path, content, judge_form);
  if (path.ends_with(".h") && content.find("#pragma once\n") == std::string::npos) {
    complaints.push_back(fmt::format("{}:1: no #pragma once", path));
  }
  return complaints;
}

std::vector<std::string> sources(const fs::path& root) {
  std::vector<std::string> folders;
  for (const auto& [folder, allowed] : kLayers) folders.push_back(folder);
  return source_paths(root, folders);
}

/// Both kinds of test walk the whole tree; a failure lists every offender.
void expect_no_complaints(Complaints (*judge)(std::string_view, const std::string&)) {
  const fs::path root = TRNSIM_SOURCE_DIR;
  const std::vector<std::string> paths = sources(root);
  ASSERT_THAT(paths, testing::Contains("base/error.h"));
  std::string all;
  for (const std::string& path : paths) {
    for (const std::string& complaint : judge(path, read_file(root / path))) all += "\n  " + complaint;
  }
  if (!all.empty()) ADD_FAILURE() << all;
}

TEST(Layering, EveryIncludeKeepsTheLayers) { expect_no_complaints(layer_complaints); }

TEST(Layering, EveryFileKeepsTheForm) { expect_no_complaints(form_complaints); }

struct Plant {
  std::string path;
  std::string include;
  std::string complaint;  // empty: allowed

  friend void PrintTo(const Plant& plant, std::ostream* out) { *out << plant.include << " in " << plant.path; }
};

class LayeringFinds : public testing::TestWithParam<Plant> {};

TEST_P(LayeringFinds, APlantedInclude) {
  const Plant& plant = GetParam();
  const Complaints found = layer_complaints(plant.path, "\n  #  include " + plant.include + "  // why\n");
  if (plant.complaint.empty()) {
    EXPECT_THAT(found, testing::IsEmpty());
  } else {
    EXPECT_THAT(found, testing::ElementsAre(plant.path + ":2: " + plant.complaint));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layering, LayeringFinds,
    testing::Values(
        Plant{"isa/a.cpp", "\"hw/dma.h\"", "isa/ may not include \"hw/dma.h\""},
        Plant{"base/a.cpp", "\"isa/tile.h\"", "base/ may not include \"isa/tile.h\""},
        Plant{"workloads/a.h", "\"isa/tile.h\"", "workloads/ may not include \"isa/tile.h\""},
        Plant{"analysis/a.cpp", "\"hw/params.h\"", "analysis/ may not include \"hw/params.h\""},
        Plant{"analysis/a.cpp", "\"hw/trace.h\"", ""}, Plant{"hw/a.cpp", "\"isa/tile.h\"", ""},
        Plant{"cli/a.cpp", "\"runtime/graph/graph.h\"", "cli/ may not include \"runtime/graph/graph.h\""},
        Plant{"python/a.cpp", "\"runtime/graph/graph.h\"", "python/ may not include \"runtime/graph/graph.h\""},
        Plant{"python/nki/a.cpp", "<pybind11/pybind11.h>", ""},
        Plant{"trnsim/a.cpp", "<pybind11/pybind11.h>", "trnsim/ may not use <pybind11/pybind11.h>"},
        Plant{"cli/a.cpp", "\"analysis/record/record.h\"", ""}, Plant{"hw/a.cpp", "<systemc>", ""},
        Plant{"runtime/a.cpp", "<systemc>", "runtime/ may not use <systemc>"},
        Plant{"hw/a.cpp", "<boost/graph/dag.hpp>", "hw/ may not use <boost/graph/dag.hpp>"},
        Plant{"hw/network/topology.cpp", "<boost/graph/dag.hpp>", ""},
        Plant{"hw/a.cpp", "<gtest/gtest.h>", "hw/ may not use <gtest/gtest.h>"},
        Plant{"tests/hw/a.cpp", "<gtest/gtest.h>", ""}, Plant{"hw/a.cpp", "<sys/mman.h>", ""},
        Plant{"hw/a.cpp", "<vector>", ""},
        Plant{"hw/a.cpp", "<new/lib.h>", "<new/lib.h> is a library without a row in kLibraries"},
        Plant{"cli/a.cpp", "\"hw/memory/dma.h\"", "\"hw/memory/dma.h\" is internal to hw/"},
        Plant{"trnsim/a.cpp", "\"validation/rows/rows.h\"", "trnsim/ may not include \"validation/rows/rows.h\""},
        Plant{"cli/a.cpp", "\"trnsim/job/job.h\"", ""}, Plant{"hw/a.cpp", "\"hw/memory/dma.h\"", ""},
        Plant{"tests/hw/a.cpp", "\"hw/memory/dma.h\"", ""},
        Plant{"hw/a.cpp", "\"dma.h\"", "\"dma.h\" is not a path from the root"},
        Plant{"hw/a.cpp", "\"hw/../isa/tile.h\"", "\"hw/../isa/tile.h\" goes up"}));

TEST(Layering, FindsBadForm) {
  using testing::ElementsAre;
  EXPECT_THAT(form_complaints("hw/a.h", "int x;\n"), ElementsAre("hw/a.h:1: no #pragma once"));
  EXPECT_THAT(form_complaints("hw/a.h", "#pragma once\nusing namespace std;\n"),
              ElementsAre("hw/a.h:2: using namespace in a header"));
  EXPECT_THAT(form_complaints("hw/a.cpp", "# define X 1\n"), ElementsAre("hw/a.cpp:1: a macro of our own: X"));
  EXPECT_THAT(form_complaints("hw/a.cpp", std::string(121, 'x')), ElementsAre("hw/a.cpp:1: 121 columns, at most 120"));
  EXPECT_THAT(form_complaints("hw/a.cpp", std::string(119, 'x') + "µ"), testing::IsEmpty());
  EXPECT_THAT(form_complaints("hw/a.cpp", "\tx\n"), ElementsAre("hw/a.cpp:1: a tab"));
}

}  // namespace
}  // namespace base
