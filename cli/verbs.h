// The verbs of the binary: one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

void add_run(CLI::App& app);
void add_compile(CLI::App& app);
void add_ablate(CLI::App& app);
void add_verify(CLI::App& app);
void add_check(CLI::App& app);
void add_explain(CLI::App& app);
void add_generate(CLI::App& app);
void add_estimate(CLI::App& app);
void add_plan(CLI::App& app);
void add_validate(CLI::App& app);
void add_stats(CLI::App& app);
void add_report(CLI::App& app);
void add_trace(CLI::App& app);
void add_cost(CLI::App& app);
void add_choose(CLI::App& app);
void add_compare(CLI::App& app);
void add_numerics(CLI::App& app);
void add_sweep(CLI::App& app);
void add_ls(CLI::App& app);
void add_top(CLI::App& app);
void add_monitor(CLI::App& app);
void add_list(CLI::App& app);
void add_params(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_consolidate(CLI::App& app);
void add_nki(CLI::App& app);
void add_torch(CLI::App& app);
void add_completion(CLI::App& app);
void add_version(CLI::App& app);

/// `python3 -m module` with these arguments: the process becomes Python's. Errors: Fault::kEnvironment at `verb`
/// without the module.
[[noreturn]] void exec_python(const std::string& module, const std::string& verb, std::vector<std::string> arguments);
/// The same for verbs whose flags the Python program reads; returns false for any other, and for --help.
bool exec_script_verb(int argc, const char* const* argv);

/// `add` declares the verb's options and the action after the parse; it must leave nothing else behind.
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
    Verb{"compile", "compile a workload and show its program",
         {"trnsim compile bert_emotion --explain",
          "trnsim compile bert_emotion --emit asm --output step.asm",
          "trnsim compile bert_emotion --passes=-fusion --explain"}, add_compile},
    Verb{"ablate", "what each pass of the compiler is worth to a workload",
         {"trnsim ablate bert_emotion",
          "trnsim ablate bert_emotion --only time --per_device_train_batch_size 8",
          "trnsim ablate bert_emotion --set hbm.bandwidth=0.5x --format md"}, add_ablate},
    Verb{"estimate", "memory, time and cost of a model's training, or of requests to it",
         {"trnsim estimate llama2-7b --tensor_parallel_size 8 --zero_1 --gradient_accumulation_steps 16",
          "trnsim estimate llama2-70b --nnodes 32 --tensor_parallel_size 32 --pipeline_parallel_size 8 --zero_1 "
          "--gradient_accumulation_steps 32 --recompute selective",
          "trnsim estimate llama3-8b --max_length 8192 --tensor_parallel_size 32 --format json"}, add_estimate},
    Verb{"plan", "rank every legal way to share a model's training between cores",
         {"trnsim plan llama2-7b --global_batch_size 64",
          "trnsim plan llama2-13b --nnodes 4 --max_length 4096 --limit 5",
          "trnsim plan gpt3-6.7b --optimizer_use_master_weights --format md"}, add_plan},
    Verb{"verify", "repeat a training trajectory of PyTorch, or run programs that check themselves",
         {"trnsim verify golden/bert_tiny",
          "trnsim verify golden/bert_tiny --numerics bf16+sr --nproc_per_node 2",
          "trnsim verify scatter.mlir sort.mlir --format json"}, add_verify},
    Verb{"check", "check whether the real machine accepts a program, a compile cache or a job",
         {"trnsim check llama2_7b_dolly",
          "trnsim check model.hlo_module.pb --instance_type trn1.32xlarge --format json",
          "trnsim check /var/tmp/neuron-compile-cache --fail_on_risk"}, add_check},
    Verb{"explain", "explain an error code of neuronx-cc, and how to fix the cause",
         {"trnsim explain NCC_EVRF004", "trnsim explain EOOM001 EBVF030", "trnsim explain --format md"}, add_explain},
    Verb{"generate", "text from a Llama or GPT, and the time to each token",
         {"trnsim generate stories260K/ --prompt \"Once upon a time\" --max_new_tokens 100",
          "trnsim generate llama2-7b --tensor_parallel_size 32 --batch_size 8 --max_new_tokens 1000",
          "trnsim generate model/ --prompt \"Hello\" --temperature 0.8 --top_p 0.9 --tensor_parallel_size 2"},
         add_generate},
    Verb{"validate", "predict published measurements and print the error of each",
         {"trnsim validate validation/tables/micro.csv",
          "trnsim validate validation/tables/training.csv --sensitivity --format md",
          "trnsim validate validation/tables/micro.csv --only gemm_8192,silu --set power.utilisation=1"}, add_validate},
    Verb{"report", "a run on one page: where the time goes and what it costs",
         {"trnsim report runs/first", "trnsim report runs/first runs/second --output both.html",
          "trnsim report runs/first --format md"}, add_report},
    Verb{"stats", "the figures of a run, or its time by op, layer, engine, ...",
         {"trnsim stats runs/first", "trnsim stats runs/first --by op --limit 20",
          "trnsim stats runs/first --by collective --format csv"}, add_stats},
    Verb{"trace", "a run on a time line, for ui.perfetto.dev",
         {"trnsim trace runs/first", "trnsim trace runs/first --from \"1 ms\" --until \"2 ms\" --lanes tensor,dma",
          "trnsim trace runs/first --format json --detail ops --output step.json"}, add_trace},
    Verb{"compare", "what changed from one run to another",
         {"trnsim compare runs/first runs/second", "trnsim compare main pull --fail_above 5% --format md",
          "trnsim compare runs/first runs/second --ops 0 --format json"}, add_compare},
    Verb{"numerics", "what a number format costs in accuracy: one training in several formats",
         {"trnsim numerics runs/fp32-1 runs/fp32-2 runs/bf16-1 runs/bf16-2",
          "trnsim numerics runs/numerics/* --format md",
          "trnsim numerics runs/fp32 runs/sr --format json"}, add_numerics},
    Verb{"cost", "price a job on every instance type",
         {"trnsim cost runs/first", "trnsim cost bert_emotion --instances 1,2,4 --efficiency 40% --format md",
          "trnsim cost llama3.1-8b --lora_r 16 --tensor_parallel_size 8 --max_length 1024 --samples 50000"}, add_cost},
    Verb{"choose", "instances, plan and batch for a job: the cheapest and the fastest",
         {"trnsim choose llama3.2-1b --samples 50000 --max_length 1024 --lora_r 16",
          "trnsim choose bert_emotion --within 0:10:00 --under 1",
          "trnsim choose llama3.1-8b --samples 50000 --max_length 1024 --global_batch_size 32,64 --instances 1,2"},
         add_choose},
    Verb{"sweep", "many what-ifs of a workload: what moves its time and cost",
         {"trnsim sweep examples/what_if.toml --processes 4",
          "trnsim sweep --workload bert_emotion --set per_device_train_batch_size=4,8,16 --set hbm.bandwidth=1x,2x",
          "trnsim sweep examples/what_if.toml --minimize dollars --subject_to \"seconds<=2 ms\""}, add_sweep},
    Verb{"ls", "the simulated devices, as neuron-ls shows them",
         {"trnsim ls trn1.32xlarge", "trnsim ls trn1.32xlarge --topology", "trnsim ls runs/first --wide"}, add_ls},
    Verb{"top", "replay a step of a run in the terminal, as neuron-top shows it",
         {"trnsim top runs/first", "trnsim top runs/first --seconds 30", "trnsim top runs/first --once"}, add_top},
    Verb{"monitor", "a run in the JSON of neuron-monitor, for its dashboards",
         {"trnsim monitor runs/first", "trnsim monitor runs/first --period 1s --count 60",
          "trnsim monitor runs/first | jq .neuron_hardware_info"}, add_monitor},
    Verb{"list", "list workloads, models, instructions, operators, machines or parameters",
         {"trnsim list workloads", "trnsim list models", "trnsim list machines --format json"}, add_list},
    Verb{"params", "every number of a machine with its unit and source",
         {"trnsim params trn1.2xlarge", "trnsim params trn1.2xlarge --prefix hbm",
          "trnsim params trn1.2xlarge --set hbm.bandwidth=2x --toml"}, add_params},
    Verb{"tokenize", "tokens of a text",
         {"trnsim tokenize --vocab vocab.txt \"i feel happy\"", "trnsim tokenize --vocab vocab.txt < texts.txt",
          "trnsim tokenize --vocab tokenizer.json --max_length 64 --format json \"i feel happy\""}, add_tokenize},
    Verb{"consolidate", "merge a sharded checkpoint into one Hugging Face model",
         {"trnsim consolidate runs/first/checkpoint-100 merged", "trnsim consolidate shards models/llama-tuned",
          "trnsim consolidate runs/first/checkpoint-100 merged --overwrite_output_dir"}, add_consolidate},
    Verb{"nki", "run a script with NKI kernels: their numbers and their time, without the hardware",
         {"trnsim nki --time kernel.py", "trnsim nki --list", "trnsim nki --compare a.py b.py"}, add_nki},
    Verb{"torch", "run a PyTorch training script as it is: its losses, its time and its price, without the hardware",
         {"trnsim torch train.py --lr 1e-3", "trnsim torch --steps 10000 train.py",
          "trnsim torch --cores 32 train_xmp.py"}, add_torch},
    Verb{"completion", "print a completion script for a shell, or the manual page",
         {"trnsim completion bash > /etc/bash_completion.d/trnsim",
          "trnsim completion zsh > ~/.zfunc/_trnsim",
          "trnsim completion man > trnsim.1"}, add_completion},
    Verb{"version", "version, compiler and libraries",
         {"trnsim version", "trnsim version --json", "trnsim --version"}, add_version},
};
// clang-format on

}  // namespace cli
