// A thousand machines for one program, and a thousand programs: how long an architect waits.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "base/files.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "workloads/models/bert/bert_graph.h"

namespace {

isa::Program layer_training_step() {
  workloads::BertConfig config = workloads_test::bert_preset("bert-base-uncased");
  config.num_hidden_layers = 1;
  workloads::Step spec;
  spec.plan.micro_batch = 8, spec.kind.length = 128, spec.plan.data = 2;
  spec.plan.numerics = runtime::numerics("bf16");
  runtime::CompileOptions options;
  options.ranks = 2;
  return runtime::compile(workloads::bert_graph(config, spec).graph, trn1_target(), options).program;
}

/// Target: 60 s for 1,000 points of a BERT-base layer, in two processes.
void sweep_1000_points(benchmark::State& state) {
  const isa::Program program = layer_training_step();
  analysis::SweepSpec spec;
  spec.design = analysis::Design::kRandom;
  spec.samples = 1000;
  spec.seed = 1;
  spec.axes = {{"hbm.bandwidth", {"0.5x..2x"}}, {"tensor.clock", {"0.5x..2x"}}};
  const auto machine = [](const analysis::SweepPoint& point) {
    std::vector<std::string> overrides;
    for (const auto& [key, value] : point) overrides.push_back(key + "=" + value);
    return hw::load_machine("trn1.2xlarge", overrides);
  };
  const analysis::SweepModel model = {
      .hash = [&](const analysis::SweepPoint& point) { return machine(point).hash; },
      .evaluate =
          [&](const analysis::SweepPoint& point) {
            return analysis::Metrics{{"seconds", hw::seconds(hw::simulate(program, machine(point)).total)}};
          }};
  const auto database =
      std::filesystem::temp_directory_path() / ("trnsim_sweep_bench_" + std::to_string(getpid()) + ".sqlite");
  std::size_t failed = 0;
  for (auto _ : state) {
    std::filesystem::remove(database);
    const analysis::SweepRun run = run_sweep(design_points(spec), model, database, 2);
    for (const auto& result : run.results) failed += !result.error.empty();
  }
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(database.string() + suffix);
  state.counters["failed"] = static_cast<double>(failed);
}
BENCHMARK(sweep_1000_points)->Unit(benchmark::kSecond)->Iterations(1);

/// Batch, stack and passes: 250 programs, as the stacks that are here switch no pass.
constexpr const char* kPrograms = R"(workload = "bert_emotion"
[set]
per_device_train_batch_size = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
                               "18", "20", "22", "24", "26", "28", "30", "32", "40"]
stack = ["bare", "hf-trainer", "torch-xla", "torch-xla-2025"]
passes = ["-fusion", "-cse", "-narrow", "-bias_gradient", "-reorder", "-double_buffering", "-merge_blocks",
          "+flash_attention", "-cse,-fusion", "-narrow,-reorder"]
)";

/// Target: 60 s for 1,000 points that recompile, in two processes.
void sweep_1000_programs(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / ("trnsim_sweep_bench_" + std::to_string(getpid()));
  const std::string file = folder.string() + ".toml";
  base::write_file(file, kPrograms);
  const std::string command = TRNSIM_BENCH_BINARY " sweep " + file +
                              " --processes 2 --quiet --format csv --output_dir " + folder.string() + " >/dev/null";
  for (auto _ : state) {
    std::filesystem::remove_all(folder);
    if (std::system(command.c_str()) != 0) return state.SkipWithError(command.c_str());
  }
  std::filesystem::remove_all(folder);
  std::filesystem::remove(file);
}
BENCHMARK(sweep_1000_programs)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
