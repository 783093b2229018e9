// Whole training steps: how fast the machine is simulated, and how fast its numbers are computed beside PyTorch.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "workloads/models/bert/bert_graph.h"
#include "workloads/step/optimizer_step.h"

namespace {

/// BERT-base for 6 labels; `layers` of it.
workloads::BertConfig bert_base(std::int64_t layers = 12) {
  workloads::BertConfig config = workloads_test::bert_preset("bert-base-uncased");
  config.num_hidden_layers = layers;
  config.label_names.assign(6, "label");
  return config;
}

workloads::Step training_step(std::int64_t batch, std::uint32_t ranks) {
  workloads::Step spec;
  spec.plan.micro_batch = batch, spec.kind.length = 512, spec.plan.data = ranks, spec.optimizer.max_grad_norm = 1;
  spec.plan.numerics = runtime::numerics("bf16");
  return spec;
}

runtime::Compiled compile(const workloads::BertConfig& config, const workloads::Step& spec) {
  runtime::CompileOptions options;
  options.ranks = spec.plan.data;
  return runtime::compile(workloads::bert_graph(config, spec).graph, trn1_target(), options);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Target: 2 s and 1 GB for compiling and simulating the step of bert_emotion, 16 x 512 on each of 2 cores.
void timed_step(benchmark::State& state) {
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  double simulated = 0;
  for (auto _ : state)
    simulated = hw::seconds(hw::simulate(compile(bert_base(), training_step(16, 2)).program, machine).total);
  state.counters["simulated_ms"] = simulated * 1e3;
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(timed_step)->Unit(benchmark::kMillisecond);

/// Target: 2 million simulated instructions a second, every call simulated, one thread.
void instructions_per_second(benchmark::State& state) {
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  const runtime::Compiled step = compile(bert_base(), training_step(16, 2));
  double instructions = 0;
  for (auto _ : state)
    instructions += static_cast<double>(hw::simulate(step.program, machine, {.exact = true}).instructions);
  state.counters["instr/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}
BENCHMARK(instructions_per_second)->Unit(benchmark::kMillisecond);

/// Target: 0.2 s for the forward pass of one layer, 16 x 512: 64.4 GMAC.
void layer_forward(benchmark::State& state) {
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  workloads::Step spec = training_step(16, 1);
  spec.kind.training = false, spec.kind.head = workloads::Head::kNone;
  double flops = 0;
  for (auto _ : state) {
    const runtime::Compiled layer = compile(bert_base(1), spec);
    flops = layer.program.model_flops;
    benchmark::DoNotOptimize(hw::simulate(layer.program, machine).total);
  }
  state.counters["GMAC"] = flops / 2e9;
}
BENCHMARK(layer_forward)->Unit(benchmark::kMillisecond);

/// Seconds of the same step in Debian's PyTorch on this host, two threads; 0 when it is not installed.
double pytorch_seconds() {
  const std::string command = "/usr/bin/python3 " TRNSIM_BENCH_DIR "/pytorch_step.py 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  double seconds = 0;
  if (!pipe) return 0;
  if (std::fscanf(pipe, "%lf", &seconds) != 1) seconds = 0;
  pclose(pipe);
  return seconds;
}

/// A compiled step of one core, its weights and data in place, on two host threads.
class ReadyStep {
 public:
  ReadyStep(const workloads::BertConfig& config, const workloads::Step& spec) : step_{compile(config, spec)} {
    device_->load(step_.program);
    runtime::Session session{*device_, step_.program};
    const workloads::Weights weights = workloads::initial_weights(config, 42);
    for (const workloads::WeightSpec& w : workloads::bert_weights(config))
      session.write(0, w.name, weights.for_device(w));
    const auto batch = static_cast<std::size_t>(spec.plan.micro_batch),
               length = static_cast<std::size_t>(spec.kind.length);
    session.write(0, "attention_mask.0", std::vector<float>(batch * length, 1.0F));
    session.write(0, "weights.0", std::vector<float>(batch, 1.0F / static_cast<float>(batch)));
    session.write(0, "hyper", workloads::hyper_values(spec.optimizer, 5e-5, 1));
    options_.host_threads = 2;
    run();  // touches all pages
  }
  double run() {
    const auto begin = std::chrono::steady_clock::now();
    device_->run(options_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  runtime::Compiled step_;
  std::unique_ptr<isa::Device> device_ = isa::make_numeric_device();
  isa::RunOptions options_;
};

/// Target: at most 1.0 times PyTorch's bf16 autocast step, 4 x 512 on one simulated core, two host threads; 1.5 at
/// worst.
void numeric_step(benchmark::State& state) {
  ReadyStep step{bert_base(), training_step(4, 1)};
  double best = 1e300;
  for (auto _ : state) best = std::min(best, step.run());
  const double reference = pytorch_seconds();
  state.counters["best_s"] = best;
  if (reference > 0) {
    state.counters["pytorch_s"] = reference;
    state.counters["ratio"] = best / reference;
  } else {
    state.SetLabel("PyTorch is absent: apt-get install python3-torch for the ratio");
  }
}
BENCHMARK(numeric_step)->Unit(benchmark::kSecond)->Iterations(2)->UseRealTime();

/// Target: 30 ms for the step of one core of `./dev run bert_emotion`, whose rows are short: 16 x 64 of the small
/// model.
void small_numeric_step(benchmark::State& state) {
  workloads::BertConfig config = workloads_test::bert_preset("bert-small");
  config.vocab_size = 2048, config.label_names.assign(6, "label");
  workloads::Step spec = training_step(16, 1);
  spec.kind.length = 64, spec.plan.numerics = runtime::numerics("bf16+sr");
  ReadyStep step{config, spec};
  double best = 1e300;
  for (auto _ : state) best = std::min(best, step.run());
  state.counters["best_s"] = best;
}
BENCHMARK(small_numeric_step)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
