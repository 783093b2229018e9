// BERT's training step: its work, its micro-batches, and the same bits in every mode.
#include "workloads/models/bert/bert_graph.h"
#include "tests/workloads/models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "hw/sim_device.h"
#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"
#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/step/optimizer_step.h"

namespace {

using namespace workloads_test;
using namespace workloads;

runtime::Compiled compile(const BertConfig& config, const Step& spec, const char* passes = "") {
  const runtime::CompileOptions options{
      .name = "bert", .ranks = spec.plan.data, .passes = runtime::parse_passes(passes)};
  runtime::Compiled compiled = runtime::compile(bert_graph(config, spec).graph, trn1_target(), options);
  isa::check(compiled.program, trn1_target());
  return compiled;
}

BertConfig tiny(double dropout = 0.1) {
  BertConfig config = read_bert_config(golden("bert_tiny"));
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout;
  return config;
}

Step step_spec(const char* numerics, std::uint32_t ranks = 1) {
  return {.plan = {.data = ranks, .micro_batch = 4, .numerics = runtime::numerics(numerics)},
          .kind = {.length = 64},
          .optimizer = {.weight_decay = 0.01, .max_grad_norm = 1}};
}

/// A device with bert_tiny's weights and its first batch, micro-batch after micro-batch and rank after rank.
class Trained {
 public:
  Trained(const runtime::Compiled& compiled, const BertConfig& config, const Step& spec,
          std::unique_ptr<isa::Device> device)
      : program_{compiled.program}, config_{config}, spec_{spec}, device_{std::move(device)} {
    device_->load(program_);
    const Weights weights = load_weights(golden("bert_tiny"), config_, 1);
    for (std::uint32_t r = 0; r < spec_.plan.data; ++r) {
      for (const WeightSpec& w : bert_weights(config_)) session().write(r, w.name, weights.for_device(w));
      for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) write_batch(r, m);
    }
  }

  void step(std::int64_t number, int host_threads = 1) {
    for (std::uint32_t r = 0; r < spec_.plan.data; ++r)
      session().write(r, "hyper", hyper_values(spec_.optimizer, 1e-3, number + 1));
    device_->run({.seed = 5, .step = static_cast<std::uint32_t>(number), .host_threads = host_threads});
  }
  runtime::Session session() { return {*device_, program_}; }
  const std::byte* hbm(std::uint32_t rank) { return device_->memory(rank).hbm(); }
  bool same_as(Trained& other) {
    for (std::uint32_t r = 0; r < spec_.plan.data; ++r)
      if (std::memcmp(hbm(r), other.hbm(r), program_.hbm_bytes) != 0) return false;
    return true;
  }

 private:
  void write_batch(std::uint32_t rank, std::int64_t micro) {
    const Checkpoint batches = Checkpoint::open(golden("bert_tiny") / "batches.safetensors");
    const std::int64_t samples = 8,
                       first = (rank * spec_.plan.micro_batches + micro) * spec_.plan.micro_batch % samples;
    const auto part = [&](const char* name, std::int64_t width) {
      const auto all = batches.integers(std::string{"step0."} + name);
      return std::vector<std::int32_t>(all.begin() + first * width,
                                       all.begin() + (first + spec_.plan.micro_batch) * width);
    };
    const auto write = [&](const char* name, const auto& values) {
      session().write(rank, micro_name(name, micro), values);
    };
    const auto mask = part("attention_mask", spec_.kind.length);
    write("input_ids", part("input_ids", spec_.kind.length));
    write("token_type_ids", std::vector<std::int32_t>(mask.size()));
    write("attention_mask", std::vector<float>(mask.begin(), mask.end()));
    write("labels", part("labels", 1));
    const auto rows = static_cast<float>(spec_.plan.micro_batch * spec_.plan.micro_batches * spec_.plan.data);
    write("weights", std::vector<float>(static_cast<std::size_t>(spec_.plan.micro_batch), 1 / rows));
  }

  const isa::Program& program_;
  const BertConfig& config_;
  const Step& spec_;
  std::unique_ptr<isa::Device> device_;
};

hw::MachineParams trn1() { return hw::load_machine("trn1.2xlarge"); }

/// Checks each engine's time, to the femtosecond.
void expect_all_time_is_booked(const hw::SimResult& result) {
  for (const hw::EngineTime& e : result.engines) EXPECT_EQ(e.busy + e.waited() + e.idle, result.total);
  EXPECT_GT(result.engines[0].busy, 0u);
}

class Modes : public testing::TestWithParam<std::tuple<std::uint32_t, const char*>> {};

// Full mode has the bits of numeric mode and the clock of timed mode; with dropout, stochastic rounding, and no race.
TEST_P(Modes, FullHasTheBitsOfNumericAndTheClockOfTimed) {
  const auto [ranks, numerics] = GetParam();
  const BertConfig config = tiny();
  const Step spec = step_spec(numerics, ranks);
  const runtime::Compiled compiled = compile(config, spec);
  hw::SimOptions options;
  options.check_races = true;
  auto device = hw::make_sim_device(trn1(), options);
  const hw::SimDevice& clock = *device;
  Trained full{compiled, config, spec, std::move(device)};
  Trained numeric{compiled, config, spec, isa::make_numeric_device()};
  hw::SimOptions exact;
  exact.exact = true;
  const hw::SimResult timed = hw::simulate(compiled.program, trn1(), exact);
  for (std::int64_t step = 0; step < 2; ++step) {
    full.step(step);
    numeric.step(step);
    EXPECT_TRUE(full.same_as(numeric)) << "step " << step;
    EXPECT_EQ(timed.total, clock.result().total) << "step " << step;
    EXPECT_TRUE(timed == clock.result()) << "step " << step;
  }
  expect_all_time_is_booked(timed);
  // TensorE also broadcasts rows, which is movement and none of the model's work.
  EXPECT_GE(timed.matmul_flops, compiled.program.model_flops);
  EXPECT_LE(timed.matmul_flops, 1.02 * compiled.program.model_flops);  // sums of gradients
  EXPECT_TRUE(std::isfinite(numeric.session().read(0, "grad_norm")[0]));
  if (ranks == 2) {  // replicas stay replicas
    runtime::Session session = numeric.session();
    for (const WeightSpec& w : bert_weights(config))
      EXPECT_EQ(session.read(0, w.name), session.read(1, w.name)) << w.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Modes, testing::Combine(testing::Values(1u, 2u), testing::Values("fp32", "bf16+sr")));

TEST(Bert, GivesTheSameBitsAgainAndOnAnyNumberOfHostThreads) {
  const BertConfig config = tiny();
  const Step spec = step_spec("bf16+sr", 2);
  const runtime::Compiled compiled = compile(config, spec);
  const auto run = [&](int threads) {
    auto trained = std::make_unique<Trained>(compiled, config, spec, isa::make_numeric_device());
    for (std::int64_t step = 0; step < 2; ++step) trained->step(step, threads);
    return trained;
  };
  const auto first = run(1), again = run(1), threads = run(2);
  EXPECT_TRUE(first->same_as(*again));
  EXPECT_TRUE(first->same_as(*threads));
}

/// Norm of the difference over the norm.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / std::max(norm, 1e-300));
}

// The gradients of micro-batches add up to that of the whole batch, as do those of two ranks.
TEST(Bert, MicroBatchesAndRanksMakeOneBatch) {
  const BertConfig config = tiny(0);
  Step whole = step_spec("fp32"), micro = whole, ranks = step_spec("fp32", 2);
  whole.plan.micro_batch = 8;
  micro.plan.micro_batches = 2;
  const auto gradients = [&](const Step& spec) {
    const runtime::Compiled compiled = compile(config, spec);
    Trained trained{compiled, config, spec, isa::make_numeric_device()};
    trained.step(0);
    std::map<std::string, std::vector<float>> out;
    for (const WeightSpec& w : bert_weights(config)) out[w.name] = trained.session().read(0, "grad." + w.name);
    out["grad_norm"] = trained.session().read(0, "grad_norm");
    return out;
  };
  const auto want = gradients(whole);
  for (const Step* spec : {&micro, &ranks})
    for (const auto& [name, got] : gradients(*spec)) {
      if (name.ends_with("key.bias")) continue;  // zero in theory: rounding only
      EXPECT_LT(relative_difference(got, want.at(name)), 1e-5) << name;
    }
}

// Activations of a micro-batch are gone before the next one's forward: all that more micro-batches need is a place for
// the gradients so far and one for those of the present one, which a single batch's update takes as they come.
TEST(Bert, MicroBatchesShareTheMemoryOfActivations) {
  const BertConfig config = tiny();
  Step one = step_spec("fp32"), four = one;
  four.plan.micro_batches = 4;
  const auto bytes = [&](const Step& spec, const char* kind) {
    return static_cast<double>(compile(config, spec).memory.bytes_by_kind.at(kind));
  };
  EXPECT_LE(bytes(four, "activations"), bytes(one, "activations") + 2.1 * bytes(one, "weights"));
}

// TensorE's FLOPs are those of the textbook plus a few sums.
TEST(Bert, FlopsAreTheTextbooks) {
  BertConfig config = workloads_test::bert_preset("bert-base-uncased");
  config.num_hidden_layers = 3;
  for (const bool training : {true, false}) {
    Step spec{.plan = {.micro_batch = 2, .micro_batches = 2, .numerics = runtime::numerics("bf16")},
              .kind = {.length = 128, .training = training}};
    const isa::Program program = compile(config, spec).program;
    EXPECT_NEAR(program.model_flops / bert_flops(config, spec), 1, 1e-12) << training;
    double executed = 0;
    for (const isa::Call& call : program.calls) executed += program.blocks[call.block].matmul_flops;
    EXPECT_NEAR(executed / program.model_flops, 1, training ? 0.01 : 1e-12);
    EXPECT_GE(executed, program.model_flops);
    spec.kind.head = Head::kNone;
    if (training) continue;
    EXPECT_NEAR(compile(config, spec).program.model_flops / bert_flops(config, spec), 1, 1e-12);
  }
}

TEST(Bert, EveryPassMayBeLeftOut) {
  const BertConfig config = tiny(0);
  const Step spec = step_spec("fp32");
  std::map<std::string, double> norms;
  for (const char* passes : {"", "-fusion", "-cse,-bias_gradient", "-reorder,-double_buffering"}) {
    const runtime::Compiled compiled = compile(config, spec, passes);
    Trained trained{compiled, config, spec, isa::make_numeric_device()};
    trained.step(0);
    norms[passes] = trained.session().read(0, "grad_norm")[0];
  }
  for (const auto& [passes, norm] : norms) EXPECT_NEAR(norm, norms[""], 1e-5 * norms[""]) << passes;
  EXPECT_EQ(norms["-reorder,-double_buffering"], norms[""]);
}

TEST(Bert, RefusesASequenceLongerThanItsPositions) {
  Step spec = step_spec("fp32");
  spec.kind.length = 129;
  EXPECT_TRUE(fails(base::Fault::kUsage, [&] { bert_graph(tiny(), spec); }, {"`max_length`", "129", "128"}));
}

}  // namespace
