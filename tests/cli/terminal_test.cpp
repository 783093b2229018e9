// The first 24 rows of a terminal of 80 columns hold the whole answer, and say what to do next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <utmp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"
#include "workloads/jobs/workload.h"

namespace {

using testing::HasSubstr;
using testing::Not;

struct Screen {
  int code = -1;
  std::vector<std::string> rows;
  std::string text;
};

/// The text of `child`, until it ended and nothing of it is on the way.
std::string written(int terminal, pid_t child, int& status) {
  constexpr int kPatience = 50;  // ms
  std::string text;
  char bytes[4096];
  for (bool ended = false;;) {
    pollfd ready{.fd = terminal, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatience) > 0) {
      if (const ssize_t n = read(terminal, bytes, sizeof bytes); n > 0) text.append(bytes, static_cast<std::size_t>(n));
    } else if (ended) {
      return text;
    } else {
      ended = waitpid(child, &status, WNOHANG) == child;
    }
  }
}

/// The rest of a line that was drawn again: a progress line is erased before the next text.
void keep_last_drawing(std::string& line) {
  constexpr std::string_view kErased = "\033[K";
  if (const std::size_t at = line.rfind(kErased); at != line.npos) line.erase(0, at + kErased.size());
}

/// The terminal after `trnsim ARGUMENTS` in `folder`, messages beside the answer included.
Screen on_a_terminal(const std::string& arguments, const std::string& folder = ".") {
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  int shown = -1;  // stays open here: without a holder, a terminal may end before its lines are read
  if (openpty(&terminal, &shown, nullptr, nullptr, &size) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    login_tty(shown);
    close(terminal);
    unsetenv("COLUMNS");
    execl("/bin/sh", "sh", "-c", ("cd " + folder + " && exec " TRNSIM_BINARY " " + arguments).c_str(), nullptr);
    _exit(127);
  }
  Screen out;
  int status = 0;
  out.text = written(terminal, child, status);
  close(shown);
  close(terminal);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::erase(out.text, '\r');
  out.rows = base::split(out.text, '\n');
  for (std::string& row : out.rows) keep_last_drawing(row);
  if (!out.rows.empty() && out.rows.back().empty()) out.rows.pop_back();
  return out;
}

class Terminal : public cli_test::Runs {};

/// One of 24 rows is the shell's prompt.
constexpr std::size_t kRows = 23;

/// `folder`: where the command is typed; names of its files are short there, wherever tests keep theirs.
void expect_fits(const std::string& arguments, const std::string& folder = ".") {
  const Screen screen = on_a_terminal(arguments, folder);
  ASSERT_EQ(screen.code, 0) << arguments << "\n" << screen.text;
  EXPECT_LE(screen.rows.size(), kRows) << arguments << "\n" << screen.text;
  for (const std::string& row : screen.rows) EXPECT_LE(row.size(), 80u + 3) << row;  // a few letters have two bytes
  EXPECT_THAT(screen.text, HasSubstr("next: ")) << arguments;
}

TEST_F(Terminal, ARunOfEveryWorkloadFits) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const std::string& name : workloads::workload_names())
    expect_fits("run " + name + " --mode timed --suggestions 1 --overwrite_output_dir --output_dir a", at(""));
}

/// Those for Llamas of billions take up to a minute each.
TEST_F(Terminal, ThePricesAndChoicesOfWorkloadsFit) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const std::string name : {"bert_emotion", "bert_imdb", "bert_tweets", "vit_mnist", "t5_small_summarize"}) {
    expect_fits("cost " + name);
    expect_fits("choose " + name);
  }
  for (const std::string name : {"llama2_7b_dolly", "llama3_8b_lora", "llama_small_generate"})
    expect_fits("cost " + name);
}

TEST_F(Terminal, TheOtherAnswersFit) {
  expect_fits("estimate bert-base-uncased --suggestions 2");
  expect_fits("estimate llama-small --nproc_per_node 8 --suggestions 2");
  expect_fits("estimate bert-base-uncased --task inference --instance_type trn1.2xlarge");
  expect_fits("estimate llama-small --task inference --instance_type trn1.2xlarge --batch_size 1..64");
  expect_fits(
      "estimate llama-small --lora_r 4 --sequences 9000 --max_length 64 --gradient_accumulation_steps 4 "
      "--save_steps 20 --interrupted_every 2h --tensor_parallel_size 2 --suggestions 4");
  expect_fits("run bert_emotion --mode timed --save_steps 50 --interrupted_every 30m --suggestions 4 --output_dir b",
              at(""));
  expect_fits("plan llama-small --nnodes 1 --global_batch_size 64 --max_length 128");
  expect_fits("cost bert_tweets");
  expect_fits("cost bert_tweets --instances 1,2,4");  // several are left out, each reason said once
  expect_fits("cost llama3_8b_generate");             // each is left out for a reason of its own
  expect_fits("choose llama_small_generate");
  expect_fits("cost bert-base-uncased --task inference --samples 1000000");
  expect_fits("choose bert-base-uncased --task inference --samples 1000000 --within 50ms");
  expect_fits("generate llama-small --max_new_tokens 4 --prompt_length 16");
  expect_fits("choose llama-small --samples 3000 --max_length 128 --instance_types trn1.2xlarge --global_batch_size 8");
}

/// A folder's path may be longer than a row: it has one of its own, and the rest stays within the terminal.
TEST_F(Terminal, ALongNameIsNoReasonToLoseTheAnswer) {
  const std::string folder = at("somebody/Meta-Llama-fine-tuned-on-support-tickets-of-several-years-version-2");
  std::filesystem::create_directories(folder);
  std::ofstream{folder + "/config.json"} << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2, "num_attention_heads": 8,
    "num_key_value_heads": 8, "vocab_size": 1000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": false})";
  for (const std::string question : {"estimate @ --lora_r 16 --sequences 50000 --max_length 128 --suggestions 4",
                                     "plan @ --max_length 128 --global_batch_size 64",
                                     "choose @ --samples 3000 --max_length 128 --instance_types trn1.2xlarge"}) {
    std::string asked = question;
    const Screen screen = on_a_terminal(asked.replace(asked.find('@'), 1, folder));
    EXPECT_EQ(screen.code, 0) << asked << "\n" << screen.text;
    EXPECT_LE(screen.rows.size(), kRows) << asked << "\n" << screen.text;
    for (const std::string& row : screen.rows)
      EXPECT_TRUE(row.size() <= 80u + 3 || row.find(folder) != row.npos) << row;  // a path is not broken
  }
}

TEST_F(Terminal, TablesAreAskedForThereAndPrintedElsewhere) {
  const std::string job = "run bert_tweets --mode timed --suggestions 0 --overwrite_output_dir --output_dir " + at("a");
  EXPECT_THAT(on_a_terminal(job).text, Not(HasSubstr("HBM per core")));
  EXPECT_THAT(on_a_terminal(job + " --tables").text, HasSubstr("HBM per core"));
  const cli_test::Ran piped = cli_test::run(job);
  EXPECT_THAT(piped.out, HasSubstr("HBM per core"));
  EXPECT_THAT(piped.out, Not(HasSubstr("next: ")));
}

}  // namespace
