// The commands that README, CONTRIBUTING and the pages of docs/ show, run in the order of each page, in a folder of
// their own. Commands that take minutes or need the reader's own files are not run literally: the list below gives the
// reason and the command run instead. A flag must exist in any case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/shell.h"
#include "tests/sanitized.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Exception {
  std::string command, why;
  std::string instead;  // empty: nothing is run
};

const std::vector<Exception> kExceptions = {
    {"trnsim run bert_emotion --model_id bert/ --dataset_path tweets.csv", "the reader's model and data", ""},
    {"trnsim estimate bert-base-uncased --dataset_path tweets.csv --buckets 32,64,128 --instance_type trn1.2xlarge",
     "the reader's data", ""},
    {"trnsim run t5_small_summarize --model_id t5-small/ --dataset_path cnn.jsonl --mode timed",
     "the reader's model and data", "trnsim run t5_small_summarize --mode timed"},
    {"trnsim run llama_small_generate --model_id llama/ --prompt \"Once upon a time\" --mode numeric",
     "the reader's model", "trnsim run llama_small_generate"},
    {"trnsim run llama2_7b_dolly --model_id llama/ --dataset_path dolly.jsonl", "the reader's model and data", ""},
    {"trnsim run llama2_7b_dolly", "trains for minutes", "trnsim run llama2_7b_dolly --mode timed"},
    {"trnsim run llama2_7b_dolly --compile_cache programs", "trains for minutes",
     "trnsim run llama2_7b_dolly --compile_cache programs --mode timed"},
    {"trnsim run llama2_7b_dolly --mode numeric --resume_from_checkpoint RUN/checkpoint --nproc_per_node 4 "
     "--tensor_parallel_size 2 --pipeline_parallel_size 2 --gradient_accumulation_steps 4",
     "trains for minutes",
     "trnsim run llama2_7b_dolly --mode numeric --resume_from_checkpoint LLAMA/checkpoint --nproc_per_node 4 "
     "--tensor_parallel_size 2 --pipeline_parallel_size 2 --gradient_accumulation_steps 4 --max_steps 3 "
     "--max_train_samples 100 --max_eval_samples 20"},
    {"trnsim consolidate RUN/checkpoint model/", "RUN is another run", "trnsim consolidate LLAMA/checkpoint model/"},
    {"trnsim verify scatter.mlir sort.mlir", "the reader's programs: tests/cli/verify_programs_test.cpp has others",
     ""},
    {"trnsim verify --cores scatter.mlir", "the reader's program", ""},
    {"trnsim check model.hlo_module.pb", "the reader's program", "trnsim check examples/graph/mlp_step.mlir"},
    {"trnsim choose llama3.2-1b --samples 50000 --max_length 1024 --lora_r 16", "searches every instance for minutes",
     "trnsim choose llama-small --samples 500 --max_length 64 --instance_types trn1.2xlarge"},
    {"trnsim plan llama2-7b --micro_batch_sizes 1,2", "compiles for a minute", ""},
    {"trnsim plan llama2-7b --global_batch_size 64", "compiles for a minute",
     "trnsim plan llama-small --global_batch_size 64"},
    {"trnsim compare A B", "two runs", "trnsim compare RUN RUN"},
    {"trnsim validate validation/tables/training.csv", "a figure of the frozen answers", ""},
    {"trnsim ablate bert_emotion", "a figure of the frozen answers", ""},
    {"trnsim ablate llama2_7b_dolly", "compiles for minutes", ""},
    {"trnsim validate validation/tables/*.csv --sensitivity", "./dev accuracy: predicts every row ten times", ""},
};

/// The sweep that docs/views.md shows.
const std::string kSweepOfViews = "sed -n '/^    workload = /,/^$/p; /^    \\[set\\]/,/^$/p' '" TRNSIM_SOURCE_DIR
                                  "/docs/views.md' | sed 's/^    //' >";

/// Files that a command mentions, and how they come to be; once per page, when the first command wants them.
const std::map<std::string, std::string> kPrepared = {
    {"RUN", "trnsim run bert_emotion --mode timed --trace_steps 1 --output_dir RUN"},
    {"LLAMA",
     "trnsim run llama2_7b_dolly --mode numeric --max_steps 3 --max_train_samples 100 --max_eval_samples 20 "
     "--output_dir LLAMA"},
    {"kernel.py", "cp '" TRNSIM_SOURCE_DIR "/examples/nki/vector_add.py' kernel.py"},
    {"a.py b.py", "cp '" TRNSIM_SOURCE_DIR "/examples/nki/vector_add.py' a.py && cp a.py b.py"},
    {"examples/", "ln -s '" TRNSIM_SOURCE_DIR "/examples' examples"},
    {"mine.csv", "cp validation/tables/training.csv mine.csv"},
    {"sweep.toml", kSweepOfViews + "sweep.toml"},
};

struct Command {
  std::string text;

  std::vector<std::string> words() const {
    std::istringstream in{text};
    return {std::istream_iterator<std::string>{in}, {}};
  }
  std::string verb() const { return words().size() > 1 ? words()[1] : ""; }
  /// True when it only shows a form: nothing behind the verb, "...", or a word in capitals that stands for another.
  bool is_form() const {
    static const std::regex kPlaceholder{R"((^|[ =./])(?!RUN\b)[A-Z][A-Z]+\b|\.\.\.|=VALUE)"};
    return words().size() < 3 || std::regex_search(text, kPlaceholder);
  }
};

std::string squeezed(const std::string& text) {
  std::string out = std::regex_replace(text, std::regex{R"(\s+)"}, " ");
  return std::regex_replace(out, std::regex{R"(\\\|)"}, "|");  // as tables write it
}

/// Code between backquotes, in the text of a paragraph or a table.
void take_spans(std::string& prose, std::vector<Command>& out) {
  static const std::regex kSpan{"`(trnsim [^`]+)`"};
  for (std::sregex_iterator at{prose.begin(), prose.end(), kSpan}, end; at != end; ++at)
    out.push_back({squeezed((*at)[1])});
  prose.clear();
}

/// The commands of a page in their order: in backquotes, in indented lines, and in fences behind "$ ", or as all lines
/// of a fence whose first one is a command. A remark begins with "#" or several blanks.
std::vector<Command> commands_of(const std::string& page) {
  static const std::regex kLine{R"(^(    |\$ |)(trnsim (?:[^# ]| (?![ #]))*).*)"};
  std::vector<Command> out;
  std::istringstream lines{page};
  std::string line, prose;
  bool fenced = false, first = false, shown = false;
  std::smatch found;
  while (std::getline(lines, line)) {
    const bool fence = line.starts_with("```");
    if (first) shown = line.starts_with("trnsim ");
    first = fence && !fenced;
    const bool here =
        fenced ? line.starts_with(shown ? "trnsim " : "$ ") : line.starts_with(' ') || line.starts_with('$');
    const bool command = here && std::regex_match(line, found, kLine);
    if (fence || command) take_spans(prose, out);
    if (command) out.push_back({squeezed(found[2])});
    if (!fence && !command && !fenced) prose += line + "\n";
    fenced ^= fence;
  }
  take_spans(prose, out);
  return out;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator{kSource / "docs"})
    if (entry.path().extension() == ".md") found.push_back(fs::relative(entry.path(), kSource));
  std::ranges::sort(found);
  return found;
}

/// A folder with `trnsim` on the path, the tests' data and published tables, and the files made in it so far.
class Reader {
 public:
  Reader() {
    bash("mkdir bin\nln -s '" TRNSIM_BINARY "' bin/trnsim\nln -s '" TRNSIM_SOURCE_DIR "'/{tests,validation} .");
  }

  Ran bash(const std::string& command) const {
    // Searching for advice takes as long as a few jobs; a command with a flag for it still gets it.
    return shell(folder_.path(), "export PATH=\"$PWD/bin:$PATH\" TRNSIM_SUGGESTIONS=0\n" + command);
  }

  void follow(const Command& command) {
    // Scripts need PyTorch, and have flags of their own: tests/python runs the examples.
    if (command.verb() == "VERB" || command.verb() == "torch") return;
    const auto exception = std::ranges::find(kExceptions, command.text, &Exception::command);
    if (exception == kExceptions.end() && !command.is_form()) return run(command.text);
    // Help must have the flags of commands that are not run; others may have trainers' flags without a meaning here.
    const std::string& help = help_of(command.verb());
    static const std::regex kFlag{R"(--[a-zA-Z][\w-]*)"};
    for (std::sregex_iterator at{command.text.begin(), command.text.end(), kFlag}, end; at != end; ++at)
      EXPECT_THAT(help, HasSubstr(at->str())) << command.text;
    if (exception != kExceptions.end() && !exception->instead.empty()) run(exception->instead);
  }

 private:
  const std::string& help_of(const std::string& verb) {
    const auto [place, is_new] = help_.try_emplace(verb);
    if (is_new) {
      const Ran ran = bash("trnsim " + verb + " --help");
      EXPECT_EQ(ran.code, 0) << "trnsim " << verb << " --help: " << ran.output;
      place->second = ran.output;
    }
    return place->second;
  }

  void run(const std::string& command) {
    static const bool kernels = fs::exists(fs::path{TRNSIM_BINARY}.parent_path() / "python/trnsim/nki/__main__.py");
    const bool python = command.find("nki") != std::string::npos || command.find("aten") != std::string::npos;
    if (!kernels && python) return;  // built without the Python module
    if (!done_.insert({command, true}).second) return;
    for (const auto& [file, how] : kPrepared)
      if (command.find(file) != std::string::npos && done_.insert({file, true}).second) {
        const Ran ran = bash(how);
        ASSERT_EQ(ran.code, 0) << how << "\n" << ran.output;
      }
    const Ran ran = bash("timeout 900 " + command);
    EXPECT_EQ(ran.code, 0) << command << "\n" << ran.output;
  }

  TemporaryFolder folder_{"trnsim_docs"};
  std::map<std::string, std::string> help_;
  std::map<std::string, bool> done_;
};

class Docs : public testing::TestWithParam<fs::path> {};

TEST_P(Docs, CommandsWork) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  Reader reader;
  for (const Command& command : commands_of(base::read_file(kSource / GetParam()))) reader.follow(command);
}

INSTANTIATE_TEST_SUITE_P(Page, Docs, testing::ValuesIn(pages()), [](const auto& page) {
  return std::regex_replace(page.param.string(), std::regex{R"(\W)"}, "_");
});

TEST(DocsPages, ShowEveryCommandThatTheListSkips) {
  std::vector<std::string> all;
  for (const fs::path& page : pages())
    for (const Command& command : commands_of(base::read_file(kSource / page))) all.push_back(command.text);
  EXPECT_GT(all.size(), 50u);
  for (const Exception& exception : kExceptions) EXPECT_THAT(all, testing::Contains(exception.command));
}

TEST(DocsPages, CommandsAreFoundWhereverTheyStand) {
  std::vector<std::string> found;
  for (const Command& c :
       commands_of("Use `trnsim list\nisa` or:\n\n    trnsim ls          # here\n\n```\nout\ntrnsim out\n"
                   "$ trnsim top RUN\n```\n| `trnsim stats --by a\\|b` |\n```sh\ntrnsim cost RUN  "
                   "says it\ntrnsim version # too\n```\n"))
    found.push_back(c.text);
  EXPECT_THAT(found, testing::ElementsAre("trnsim list isa", "trnsim ls", "trnsim top RUN", "trnsim stats --by a|b",
                                          "trnsim cost RUN", "trnsim version"));
}

/// The first block of README's section, and of the tutorial, but for "...": a figure that moved must not stay there.
TEST(DocsPages, ShowTheOutputOfTheMainExample) {
  const TemporaryFolder folder{"trnsim_docs"};
  const Ran ran = shell(folder.path(), TRNSIM_BINARY " run bert_emotion --mode timed 2>/dev/null");
  ASSERT_EQ(ran.code, 0) << ran.output;
  for (const auto& [file, title] : {std::pair{"README.md", "## What it prints"}, {"docs/tutorial.md", "## 1."}}) {
    const std::string page = base::read_file(kSource / file);
    const std::size_t begin = page.find("```\n", page.find(title)) + 4;
    std::istringstream lines{page.substr(begin, page.find("```", begin) - begin)};
    for (std::string line; std::getline(lines, line);) {
      if (line != "...") {
        EXPECT_THAT(ran.output, HasSubstr(line + "\n")) << file;
      }
    }
  }
}

/// A number of the tutorial's sentences is one of the output above them, in the same digits: a run made both.
TEST(DocsPages, NumbersOfTheTutorialsSentencesAreThoseOfItsOutput) {
  const std::string page = base::read_file(kSource / "docs/tutorial.md");
  const std::size_t begin = page.find("```\n") + 4, end = page.find("```", begin);
  const std::string output = page.substr(begin, end - begin), sentences = page.substr(end);
  static const std::regex kFigure{R"(\+?\d+(?:\.\d+)? (?:ms|%|GiB|samples/s)|\$\d+\.\d+)"};
  int checked = 0;
  for (std::sregex_iterator at{sentences.begin(), sentences.end(), kFigure}, none; at != none; ++at, ++checked)
    EXPECT_THAT(output, HasSubstr(at->str())) << "docs/tutorial.md: " << at->str();
  EXPECT_GE(checked, 3);
}

/// `[text](page)` and pictures, from the page's folder: no reader is sent nowhere.
TEST(DocsPages, LinksLeadSomewhere) {
  static const std::regex kLink{R"(\]\(([^):#]+)(#[^)]*)?\))"};
  for (const fs::path& page : pages()) {
    const std::string text = base::read_file(kSource / page);
    for (std::sregex_iterator at{text.begin(), text.end(), kLink}, end; at != end; ++at)
      EXPECT_TRUE(fs::exists(kSource / page.parent_path() / (*at)[1].str())) << page << ": " << (*at)[1];
  }
}

/// In backquotes, from the root; "*" for any name. A page must not send its reader to files that have moved.
TEST(DocsPages, FilesThatTheyNameExist) {
  static const std::regex kFile{
      "`((base|isa|hw|runtime|workloads|analysis|trnsim|cli|tests|docs|examples|cmake)/[^` ]*)`"};
  std::string files;
  for (const fs::path& page : pages()) {
    const std::string text = base::read_file(kSource / page);
    for (std::sregex_iterator at{text.begin(), text.end(), kFile}, end; at != end; ++at)
      if (at->str().find("NAME") == std::string::npos) files += " " + (*at)[1].str();
  }
  const Ran ran = shell(kSource, "ls -d" + files + " >/dev/null");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST(DocsPages, VerbsOfDevExist) {
  const std::string help = shell(kSource, "./dev help").output;
  static const std::regex kVerb{R"(\./dev ([a-z]+))"};
  for (const fs::path& page : pages()) {
    const std::string text = base::read_file(kSource / page);
    for (std::sregex_iterator at{text.begin(), text.end(), kVerb}, end; at != end; ++at)
      EXPECT_THAT(help, HasSubstr(at->str())) << page;
  }
}

/// A warning is an error there: words that a header lacks, or that name what is no more.
TEST(DocsPages, TheReferenceOfTheHeadersHasNoWarning) {
  const TemporaryFolder folder{"trnsim_api"};
  if (shell(folder.path(), "command -v doxygen").code != 0) GTEST_SKIP() << "doxygen is not installed";
  const Ran ran = shell(kSource, "TRNSIM_API='" + folder.path().string() + "' doxygen docs/Doxyfile");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(fs::exists(folder.path() / "html/index.html"));
}

}  // namespace
}  // namespace integration
