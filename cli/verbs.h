// The verbs of the binary: one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

namespace cli {

void add_run(CLI::App& app);
void add_compile(CLI::App& app);
void add_verify(CLI::App& app);
void add_validate(CLI::App& app);
void add_list(CLI::App& app);
void add_params(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_completion(CLI::App& app);
void add_version(CLI::App& app);

/// `add` declares the verb's options and what to do after the parse; it must leave nothing behind but that.
struct Verb {
  std::string_view name;
  std::string_view help;
  std::array<std::string_view, 3> examples;  // --help shows them first
  void (*add)(CLI::App&);
};

// clang-format off
inline constexpr std::array kVerbs = {
    Verb{"run", "train a workload: projected time and cost, and real numerics",
         {"trnsim run bert_emotion",
          "trnsim run bert_emotion --numerics bf16+sr --num_train_epochs 3 --output_dir runs/first",
          "trnsim run bert_emotion --numerics off --set hbm.bandwidth=2x --format json"}, add_run},
    Verb{"compile", "compile a workload's training step and show the program",
         {"trnsim compile bert_emotion --explain",
          "trnsim compile bert_emotion --emit asm --output step.asm",
          "trnsim compile bert_emotion --passes=-fusion --explain"}, add_compile},
    Verb{"verify", "repeat a training trajectory exported from PyTorch and compare",
         {"trnsim verify golden/bert_tiny",
          "trnsim verify golden/bert_tiny --numerics bf16+sr --nproc_per_node 2",
          "trnsim verify golden/bert_tiny --mode full --format json"}, add_verify},
    Verb{"validate", "predict published measurements and print the error of each",
         {"trnsim validate tests/validation/micro.csv",
          "trnsim validate tests/validation/training.csv --format md",
          "trnsim validate tests/validation/micro.csv --only gemm_8192,silu --set power.utilisation=1"}, add_validate},
    Verb{"list", "list instructions, machines or parameters",
         {"trnsim list isa --format md", "trnsim list machines --format json", "trnsim list params"}, add_list},
    Verb{"params", "every number of a machine with its unit and source",
         {"trnsim params trn1.2xlarge", "trnsim params trn1.2xlarge --prefix hbm",
          "trnsim params trn1.2xlarge --set hbm.bandwidth=2x --toml"}, add_params},
    Verb{"tokenize", "WordPiece tokens of a text",
         {"trnsim tokenize --vocab vocab.txt \"i feel happy\"", "trnsim tokenize --vocab vocab.txt < texts.txt",
          "trnsim tokenize --vocab tokenizer.json --max_length 64 --format json \"i feel happy\""}, add_tokenize},
    Verb{"completion", "print a completion script for a shell",
         {"trnsim completion bash > /etc/bash_completion.d/trnsim",
          "trnsim completion zsh > ~/.zfunc/_trnsim",
          "trnsim completion fish > ~/.config/fish/completions/trnsim.fish"}, add_completion},
    Verb{"version", "version, compiler and libraries",
         {"trnsim version", "trnsim version --json", "trnsim --version"}, add_version},
};
// clang-format on

}  // namespace cli
