// Rules that can be checked in the text of a C++ source, each with its folders (Python's: tests/python/rules_test.py).
// Present breaches are listed in layering_exceptions.txt, by file and number, which may only shrink:
// TRNSIM_UPDATE_EXCEPTIONS=1 removes mended ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/pattern.h"
#include "tests/base/source_scopes.h"
#include "tests/base/source_text.h"
#include "tests/sanitized.h"

namespace base {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"base",      "isa",      "hw",     "runtime", "frontend",
                                           "workloads", "analysis", "trnsim", "include", "validation",
                                           "cli",       "python",   "tests"};
constexpr std::size_t kMostFunctionLines = 40, kMostFileLines = 400, kMostClassLines = 250;
constexpr std::size_t kMostParameters = 6, kMostMembers = 20, kMostVirtuals = 12;

/// A place that breaks a rule.
struct Breach {
  std::size_t line;
  std::string what;
};
using Breaches = std::vector<Breach>;

struct SourceRule {
  std::string name, why;
  std::string folders;  // that it holds for
  std::string except;   // files below this path are exempt
  std::function<Breaches(const Source&, const Scopes&)> find;

  bool holds_for(const Source& source) const {
    const std::string folder = " " + std::string{source.folder()} + " ";
    return (" " + folders + " ").find(folder) != std::string::npos &&
           (except.empty() || !source.path.starts_with(except));
  }
};

/// Every match of the pattern, in the code or in quoted text.
Breaches matches(const std::string& text, const Pattern& pattern) {
  Breaches found;
  std::istringstream lines{text};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number)
    for (auto at = pattern.search(line); at; at = pattern.search(line, at->data() + at->size() - line.data()))
      found.push_back({number, std::string{*at}});
  return found;
}

std::function<Breaches(const Source&, const Scopes&)> in_code(const char* pattern) {
  return [expression = Pattern{pattern}](const Source& s, const Scopes&) { return matches(s.code, expression); };
}

std::function<Breaches(const Source&, const Scopes&)> in_strings(const char* pattern) {
  return [expression = Pattern{pattern}](const Source& s, const Scopes&) { return matches(s.strings, expression); };
}

std::function<Breaches(const Source&, const Scopes&)> in_comments(const char* pattern) {
  return [expression = Pattern{pattern}](const Source& s, const Scopes&) { return matches(s.comments, expression); };
}

Breaches mutable_globals(const Source&, const Scopes& scopes) {
  Breaches found;
  for (const FoundVariable& variable : scopes.globals) found.push_back({variable.line, variable.text});
  return found;
}

Breaches long_functions(const Source&, const Scopes& scopes) {
  Breaches found;
  for (const FoundFunction& f : scopes.functions)
    if (f.lines() > kMostFunctionLines) found.push_back({f.first, fmt::format("{} lines: {}", f.lines(), f.head)});
  return found;
}

Breaches many_parameters(const Source&, const Scopes& scopes) {
  Breaches found;
  for (const FoundFunction& f : scopes.functions)
    if (f.parameters > kMostParameters) found.push_back({f.first, fmt::format("{}: {}", f.parameters, f.head)});
  return found;
}

/// Classes of which `figure` is larger than `most`.
std::function<Breaches(const Source&, const Scopes&)> classes_above(
    std::size_t most, std::function<std::size_t(const FoundClass&)> figure) {
  return [=](const Source&, const Scopes& scopes) {
    Breaches found;
    for (const FoundClass& c : scopes.classes)
      if (const std::size_t n = figure(c); n > most) found.push_back({c.first, fmt::format("{}: {}", n, c.head)});
    return found;
  };
}

Breaches long_file(const Source& source, const Scopes&) {
  const std::size_t lines = line_at(source.code, source.code.size()) - 1;
  if (lines <= kMostFileLines) return {};
  return {{lines, fmt::format("{} lines", lines)}};
}

/// Names of tensors in the files that all families share.
Breaches tensor_names(const Source& source, const Scopes&) {
  static const Pattern shared{R"(^(workloads/models/(layers/.*|decoder/(split|decoder|generation|plain)[^/]*|[^/]*)|)"
                              R"((?!workloads/models/).*)$)"};
  static const Pattern names{
      R"(\b(lm_head|embed_(tokens|in|out)|self_attn|[qkv]_proj\.|c_attn|w[pt]e|ln_f|SelfAttention|)"
      R"(EncDecAttention|word_embeddings|query_key_value|cls\.predictions)\b)"};
  return shared.search(source.path) ? matches(source.strings, names) : Breaches{};
}

const std::string kLibrary = "isa hw runtime frontend workloads analysis trnsim validation";
const std::string kAboveHardware = "runtime frontend workloads analysis trnsim validation cli";
const std::string kEverywhere = kLibrary + " base cli python tests";
const char* const kRewritten = "python/nki/";  // until its sources are rewritten

std::vector<SourceRule> code_rules() {
  return {
      {"printing", "only cli/ prints, through base/", kLibrary, "",
       in_code(R"(\bfmt::print\b|\bstd::(cout|cerr|clog|puts|printf)\b|\b(printf|puts|fputs|putchar)\()")},
      {"progress", "only cli/ shows progress", kLibrary, "", in_code(R"(\bbase::(Progress|Terminal)\b)")},
      {"flags", "flags have names in cli/ only: a library knows fields", kLibrary + " base", "",
       in_strings(R"((^|[^\w-])--[a-zA-Z][\w-]*)")},
      {"family", "only workloads/models/ tells families apart", kAboveHardware, "workloads/models/",
       in_code(R"(\b(holds_alternative|get_if|get)<(\w+::)*(Bert|Llama|Gpt|Vit|Decoder)Config>|\b(Family|Shape)::k\w+|)"
               R"(\bis_(bert|llama|gpt|vit|encoder|decoder)\(|\bfamily\(\) *[!=]=)")},
      {"op", "only runtime/ops/ asks which op a node is: others read columns of Op", kAboveHardware, "runtime/ops/",
       in_code(R"([=!]= *&(\w+::)*k[A-Z]\w*|&(\w+::)*k[A-Z]\w* *[=!]=)")},
      {"tensors", "a family's tensors have their names in its own file", "runtime workloads analysis trnsim cli",
       "workloads/checkpoints/llama2c.cpp",  // a format that is Llama's alone
       tensor_names},
      {"hardware", "numbers of the hardware stand in isa/ and hw/: they come from the Target", kAboveHardware, "",
       in_code(R"((^|[^\w.])(91\.75|22\.94|0\.96e9|1\.4e9|2\.8e9|820e9|196608)(?![\w.]))")},
      {"geometry", "sizes of the core come from the Target", "runtime", "",
       in_code(R"((^|[^\w.'])(128|512|2048|16384)(?![\w.']))")},
      {"hardware text", "what is printed about the hardware comes from its parameters", kAboveHardware, "",
       in_strings(R"(\b(91\.75|\d+(\.\d+)? ?GHz)\b)")},
      {"globals", "nothing outlives a call and may change: the library runs in two threads", kLibrary, "",
       mutable_globals},
      {"clang", "clang 14, which builds the fuzzers, cannot read GCC 12's views", kEverywhere, "",
       in_code(R"(\bstd::(ranges::)?views::\w+)")},
      {"functions", "a function has 40 lines at most", kEverywhere, "", long_functions},
      {"parameters", "a function has 6 parameters at most: more are a struct", kEverywhere, "", many_parameters},
      {"classes", "a class has 250 lines at most", kEverywhere, "",
       classes_above(kMostClassLines, [](const FoundClass& c) { return c.lines(); })},
      {"members", "a struct has 20 members at most: more are groups", kEverywhere, "",
       classes_above(kMostMembers, [](const FoundClass& c) { return c.head.starts_with("struct") ? c.members : 0; })},
      {"virtuals", "an interface has 12 functions at most", kEverywhere, "",
       classes_above(kMostVirtuals, [](const FoundClass& c) { return c.virtuals; })},
      {"files", "a file has 400 lines at most", kEverywhere, "", long_file},
  };
}

/// Comments are English that a native reader takes in at once.
std::vector<SourceRule> comment_rules() {
  const std::string folders = kEverywhere + " include";
  return {
      {"noun", "a comment names its subject: no \"what ...\" as a noun", folders, kRewritten,
       in_comments(R"((^[/<\s]*|[.:;(] )\K[Ww]hat (?![^.]*\?)|)"
                   R"(\b(of|for|by|with|than|from|to|in|on|as|or|is|are) what\b(?!-))")},
      {"fragment", "a sentence of a comment does not begin with \"Of\"", folders, kRewritten,
       in_comments(R"((^[/<\s]*|[.;:] )\KOf (?!the \d))")},
      {"actor", "a comment names the part that acts: nobody is in a program", folders, kRewritten,
       in_comments(R"(\b([Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body\b|\b[Ww]ho(ever|m)\b|)"
                   R"((?<!user|people|["{])(^[/<\s]*| )\K[Ww]ho\b)")},
      {"place", "data is in a place, text is in a line: neither lies or stands", folders, kRewritten,
       in_comments(R"(\b(lies?|lay|stands?|stood)\b(?!-| (for|alone)\b))")},
  };
}

const std::vector<SourceRule>& rules() {
  static const std::vector<SourceRule> all = [] {
    std::vector<SourceRule> out = code_rules();
    for (SourceRule& rule : comment_rules()) out.push_back(std::move(rule));
    return out;
  }();
  return all;
}

/// How many breaches of a rule a file may have, by "rule: path".
using Counts = std::map<std::string, std::size_t>;

const fs::path kExceptions = fs::path{TRNSIM_TEST_DIR} / "base/layering_exceptions.txt";

Counts read_exceptions() {
  Counts out;
  std::istringstream lines{read_file(kExceptions)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t blank = line.rfind(' ');
    out[line.substr(0, blank)] = std::stoul(line.substr(blank + 1));
  }
  return out;
}

void write_exceptions(const Counts& counts) {
  std::string text = "# Files that break a rule of rules_test.cpp, and how often. Only less is accepted.\n";
  for (const auto& [key, count] : counts) text += fmt::format("{} {}\n", key, count);
  write_file(kExceptions, text);
}

Breaches breaches(const SourceRule& rule, const Source& source, const Scopes& scopes) {
  return rule.holds_for(source) ? rule.find(source, scopes) : Breaches{};
}

class Rules : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "sources are the same in every build, and a sanitizer takes minutes to read them";
  }
  static void SetUpTestSuite() {
    if (kSanitized) return;
    const fs::path root = TRNSIM_SOURCE_DIR;
    for (const std::string& path : source_paths(root, kFolders)) {
      const Source source = split_source(path, read_file(root / path));
      const Scopes scopes{source};
      for (const SourceRule& rule : rules()) {
        const Breaches found = breaches(rule, source, scopes);
        if (!found.empty()) found_[rule.name + ": " + path] = found;
      }
    }
  }
  static inline std::map<std::string, Breaches> found_;
};

TEST_F(Rules, NoNewBreach) {
  const Counts allowed = read_exceptions();
  std::string all;
  for (const auto& [key, found] : found_) {
    const auto exception = allowed.find(key);
    const std::size_t most = exception == allowed.end() ? 0 : exception->second;
    if (found.size() <= most) continue;
    all += fmt::format("\n{}: {} times, {} allowed", key, found.size(), most);
    for (const Breach& breach : found) all += fmt::format("\n  line {}: {}", breach.line, breach.what);
  }
  if (!all.empty()) ADD_FAILURE() << all;
}

TEST_F(Rules, NoExceptionIsLeftOver) {
  const bool update = std::getenv("TRNSIM_UPDATE_EXCEPTIONS") != nullptr;
  Counts needed;
  for (const auto& [key, most] : read_exceptions()) {
    const auto found = found_.find(key);
    const std::size_t now = found == found_.end() ? 0 : found->second.size();
    if (now > 0) needed[key] = std::min(now, most);
    if (!update && now < most) ADD_FAILURE() << key << ": " << most << " allowed, " << now << " found";
  }
  if (update) write_exceptions(needed);
  if (HasFailure()) ADD_FAILURE() << "run TRNSIM_UPDATE_EXCEPTIONS=1 build/test_base --gtest_filter='Rules.*'";
}

/// A few lines that break one rule, or none.
struct PlantedText {
  std::string rule, path, text, found;  // found: empty when the text is in order

  friend void PrintTo(const PlantedText& plant, std::ostream* out) { *out << plant.rule << " in " << plant.path; }
};

class RulesFind : public testing::TestWithParam<PlantedText> {};

TEST_P(RulesFind, PlantedBreaches) {
  const PlantedText& plant = GetParam();
  const Source source = split_source(plant.path, plant.text);
  const Scopes scopes{source};
  std::string found;
  for (const SourceRule& rule : rules()) {
    for (const Breach& breach : breaches(rule, source, scopes)) {
      EXPECT_EQ(rule.name, plant.rule);
      found += fmt::format("{}: {}", breach.line, breach.what);
    }
  }
  EXPECT_EQ(found, plant.found);
}

std::string long_body(int lines) {
  std::string text = "void f(\n    int a) {\n";
  for (int i = 3; i < lines; ++i) text += "  ++a;\n";
  return text + "}\n";
}

std::string thirteen_virtuals() {
  std::string text = "  virtual int f0(int a) const { return a; }\n";
  for (int i = 1; i < 13; ++i) text += fmt::format("  virtual int f{}(int a, int b) = 0;\n", i);
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RulesFind,
    testing::Values(
        PlantedText{"printing", "trnsim/a.cpp", "\n  fmt::print(\"x\");\n", "2: fmt::print"},
        PlantedText{"printing", "trnsim/a.cpp", "// fmt::print\nf(\"std::cout\");\n", ""},
        PlantedText{"printing", "cli/a.cpp", "fmt::print(\"x\");\n", ""},
        PlantedText{"progress", "analysis/a.cpp", "f(base::Progress{9});\n", "1: base::Progress"},
        PlantedText{"flags", "runtime/a.cpp", "f(\"use --tensor_parallel_size\");\n", "1:  --tensor_parallel_size"},
        PlantedText{"flags", "runtime/a.cpp", "f(--count, \"a -- b\");  // --count\n", ""},
        PlantedText{"flags", "cli/a.cpp", "f(\"--count\");\n", ""},
        PlantedText{"tensors", "workloads/models/layers/a.cpp", "w(\"lm_head.weight\");\n", "1: lm_head"},
        PlantedText{"tensors", "workloads/models/decoder/decoder_a.cpp", "w(\"transformer.wpe.weight\");\n", "1: wpe"},
        PlantedText{"tensors", "workloads/models/decoder/opt.cpp", "w(\"lm_head.weight\");\n", ""},
        PlantedText{"family", "trnsim/a.cpp", "std::get_if<workloads::BertConfig>(&c);\n",
                    "1: get_if<workloads::BertConfig>"},
        PlantedText{"family", "cli/a.cpp", "case Family::kDecoder: return;\n", "1: Family::kDecoder"},
        PlantedText{"family", "trnsim/a.cpp", "if (model->family() != \"Llama\") f();\n", "1: family() !="},
        PlantedText{"family", "workloads/models/a.cpp", "std::get_if<BertConfig>(&c);\n", ""},
        PlantedText{"op", "runtime/compiler/a.cpp", "if (node.op != &kMatmul) f();\n", "1: != &kMatmul"},
        PlantedText{"op", "workloads/a.cpp", "if (&runtime::kMatmul == node.op) f();\n", "1: &runtime::kMatmul =="},
        PlantedText{"op", "runtime/ops/a.cpp", "if (node.op == &kMatmul) f();\n", ""},
        PlantedText{"hardware", "analysis/a.cpp", "f(2.8e9 / y);\n", "1: (2.8e9"},
        PlantedText{"hardware", "hw/a.cpp", "f(2.8e9);\n", ""},
        PlantedText{"hardware text", "cli/a.cpp", "print(\"of 91.75 TFLOPS\");\n", "1: 91.75"},
        PlantedText{"geometry", "runtime/a.cpp", "if (rows > 128) f(1'280, x128, 0.512);\n", "1:  128"},
        PlantedText{"geometry", "workloads/a.cpp", "f(128);\n", ""},
        PlantedText{"clang", "runtime/a.cpp", "for (int i : std::views::reverse(all)) f(i);\n",
                    "1: std::views::reverse"},
        PlantedText{"clang", "runtime/a.cpp", "f(std::string_view{});  // std::views::reverse\n", ""},
        PlantedText{"functions", "isa/a.cpp", long_body(41), "1: 41 lines: void f("},
        PlantedText{"functions", "isa/a.cpp", long_body(40), ""},
        PlantedText{"functions", "python/nki/a.cpp", long_body(41), "1: 41 lines: void f("},
        PlantedText{
            "parameters", "isa/a.cpp",
            "int f(int a, std::map<int, int> b, int c = g(1, 2), A d = {1, 2}, int e[2],\n      int h, int i) {}\n",
            "1: 7: int f(int a, std::map<int, int> b, int c = g(1, 2), A d = "},
        PlantedText{"parameters", "isa/a.cpp",
                    "bool operator()(int a, std::map<int, int> b, int c, int d, int e, int h) {}\n", ""},
        PlantedText{"classes", "isa/a.cpp", "class A : B {\n" + std::string(249, '\n') + "};\n",
                    "1: 251: class A : B "},
        PlantedText{"classes", "isa/a.cpp", "class A : B {\n" + std::string(248, '\n') + "};\n", ""},
        PlantedText{
            "members", "isa/a.h",
            "struct A {\n  std::map<int, int> a, b{1, 2}, c = {};\n  int d[2], e, f, g, h, i, j, k, l, m, n, o, p, q, "
            "r, s, t;\n"
            "  static constexpr int kU = 1;\n  int v(int w) const;\n  int x() { return 1; }\n  int y = f(1, 2);\n};\n",
            "1: 21: struct A "},
        PlantedText{"members", "isa/a.h",
                    "struct A {\n  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;\n};\n", ""},
        PlantedText{"virtuals", "isa/a.h", "class A {\n  virtual ~A() = default;\n" + thirteen_virtuals() + "};\n",
                    "1: 13: class A "},
        PlantedText{"noun", "isa/a.cpp", "/// What it reads.\n// Made of what is there.\nconst int a;  // what it is\n",
                    "1: What 2: of what3: what "},
        PlantedText{"noun", "isa/a.cpp", "f(\"What it is\");  // says what changed\n// What is it?\n", ""},
        PlantedText{"fragment", "isa/a.cpp", "const int a;  // Of each.\n// A sum. Of the 12 bytes 4 count.\n",
                    "1: Of "},
        PlantedText{"actor", "isa/a.cpp", "/* nobody\n who waits */ f();  // a user who waits\n", "1: nobody2: who"},
        PlantedText{"place", "isa/a.cpp", "// It lies there.\n// It stands for x.\n", "1: lies"},
        PlantedText{"files", "isa/a.cpp", std::string(401, '\n'), "401: 401 lines"},
        PlantedText{"files", "isa/a.cpp", std::string(400, '\n'), ""}));

INSTANTIATE_TEST_SUITE_P(
    RulesForGlobals, RulesFind,
    testing::Values(
        PlantedText{"globals", "hw/a.cpp", "namespace hw {\nint count = 0;\n}\n", "2: int count = 0"},
        PlantedText{"globals", "hw/a.cpp", "int f() {\n  static int n;\n  return ++n;\n}\n", "2: static int n"},
        PlantedText{"globals", "hw/a.cpp", "void f() { thread_local std::map<int, int> m{}; }\n",
                    "1: thread_local std::map<> m{}"},
        PlantedText{"globals", "hw/a.cpp", "const char* name = \"a\";\n", "1: const char* name = \" \""},
        PlantedText{"globals", "hw/a.h", "struct A {\n  static inline int n = 0;\n};\n", "2: static inline int n = 0"},
        PlantedText{"globals", "base/a.cpp", "int count = 0;\n", ""},
        PlantedText{"globals", "hw/a.h",
                    "constexpr int kA = 1;\nconst char* const kB = \"b\";\nint f(int a, int b = 2);\n"
                    "template <class T>\nT g();\nclass C;\nusing D = int;\nextern const int kE;\n",
                    ""},
        PlantedText{
            "globals", "hw/a.h",
            "class A : public B {\n public:\n  static A make(int a);\n  int b = 0;\n  A() : c_{1}, d_(2) { e(); }\n"
            "  static constexpr int kF = 1;\n private:\n  int c_{}, d_;\n};\n",
            ""}));

/// Hard cases for the scanner: text that looks like a function and is not one, and the reverse.
TEST(Scopes, FindsFunctionsByTheirBraces) {
  const Source source =
      split_source("a.cpp",
                   "namespace n {\nconst std::array kRows = {\n  Row{1}, Row{2}};\n"
                   "struct S : T {\n  S(int a) : a_{a}, b_{f()} {\n  }\n"
                   "  bool operator<(const S& o) const {\n    return a_ < o.a_;\n  }\n  int a_{0};\n};\n"
                   "template <class F, int N = 3>\nauto g(F f = [] { return 1; }) -> std::vector<int> {\n"
                   "  const auto h = [&](int x) {\n    if (x > 1) {\n    } else {\n    }\n  };\n  return {h(1)};\n}\n"
                   "const char* const kText = R\"(void no() {)\";\n}\n");
  std::string found;
  for (const FoundFunction& f : Scopes{source}.functions) found += fmt::format("{}-{} ", f.first, f.last);
  EXPECT_EQ(found, "5-6 7-9 12-20 ");
}

}  // namespace
}  // namespace base
