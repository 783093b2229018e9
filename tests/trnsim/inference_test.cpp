// Inference: the machines for it alone, padding between ranks, kernels for long prompts, and what compilation costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "analysis/host/stack.h"
#include "base/error.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "runtime/compiler/compile.h"
#include "runtime/graph/passes.h"
#include "runtime/ops/ops.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/stages.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

using workloads::GenerationSpec;
using workloads::ModelPtr;

GenerationSpec spec_of(std::int64_t batch, std::int64_t prompt, std::int64_t ranks) {
  return {.batch = batch,
          .prompt = prompt,
          .length = prompt,
          .tensor_parallel = ranks,
          .numerics = workloads::generation_numerics("bf16")};
}

TEST(Inference, TrainingOnInf2IsRefused) {
  EXPECT_NO_THROW(require_trains(hw::load_machine("trn1.2xlarge")));
  try {
    require_trains(hw::load_machine("inf2.24xlarge"));
    ADD_FAILURE() << "accepted";
  } catch (const base::Error& e) {
    EXPECT_EQ(e.fault(), base::Fault::kUsage);
    EXPECT_THAT(e.what(), testing::HasSubstr("inference only"));
  }
}

TEST(Inference, RanksThatDoNotDivideAModelArePadded) {
  const ModelPtr model = workloads::model_preset("llama3-8b"), padded = model->padded_for(24);
  EXPECT_EQ(padded->sizes().heads, 48);
  EXPECT_EQ(padded->sizes().kv_heads, 8);  // three ranks have each
  EXPECT_EQ(padded->sizes().ffn, 14352);
  EXPECT_EQ(padded->sizes().head, model->sizes().head);
  EXPECT_EQ(padded->sizes().hidden, model->sizes().hidden);
  EXPECT_EQ(model->padded_for(8), model);  // nothing to pad
  EXPECT_EQ(workloads::model_preset("llama2-13b")->padded_for(32)->sizes().kv_heads, 64);
  EXPECT_EQ(model->padded_for(12)->sizes().kv_heads, 36);  // neither divides the other: each head has a copy
  EXPECT_EQ(workloads::model_preset("phi-4")->padded_for(8)->sizes().kv_heads, 40);  // 10, which 40 heads share
}

/// Phi-4 has 40 heads and 10 key-value heads, SmolLM2 9 and 3: no number of key-value heads that the ranks divide
/// divides the heads too, and the program was refused as if it were wrong.
TEST(Inference, KeyValueHeadsThatRanksCannotShareAreCopied) {
  const ModelPtr phi = workloads::model_preset("phi-4"), llama = workloads::model_preset("llama-small");
  for (const auto& [model, ranks] : {std::pair{phi->with_sizes({.layers = 1}), 8},
                                     {llama->with_sizes({.heads = 9, .kv_heads = 3, .head = 16}), 2},
                                     {llama->with_sizes({.heads = 15, .kv_heads = 5, .head = 16}), 4}}) {
    const GenerationSpec spec = spec_of(1, 128, ranks);
    EXPECT_NO_THROW(workloads::prompt_graph(model->padded_for(ranks), spec)) << model->sizes().heads;
    EXPECT_NO_THROW(workloads::token_graph(model->padded_for(ranks), spec)) << model->sizes().heads;
  }
}

runtime::AttentionAttrs attention_of(const runtime::Graph& graph) {
  for (runtime::NodeId n = 0; n < graph.node_count(); ++n)
    if (graph.node(n).op == &runtime::kAttention) return graph.node(n).attrs.as<runtime::AttentionAttrs>();
  throw std::runtime_error{"no attention"};
}

runtime::Graph prompt_of(const ModelPtr& model, const GenerationSpec& s) {
  return workloads::prompt_graph(model->with_sizes({.layers = 1, .positions = s.length}), s);
}

/// Whether the prompt's attention is built operation by operation.
bool is_unfused(const ModelPtr& model, const GenerationSpec& s) {
  return attention_of(prompt_of(model, s)).tile_keys == runtime::AttentionAttrs::kUnfused;
}

TEST(Inference, LongPromptsGoToAKernelThatKnowsTheirMask) {
  const ModelPtr model = workloads::model_preset("llama2-7b");
  EXPECT_TRUE(is_unfused(model, spec_of(1, 2048, 16)));
  EXPECT_FALSE(is_unfused(model, spec_of(1, 4096, 16)));
  EXPECT_TRUE(is_unfused(model, spec_of(2, 4096, 16)));   // padded prompts, two heads of each
  EXPECT_FALSE(is_unfused(model, spec_of(2, 4096, 32)));  // one head
  EXPECT_FALSE(is_unfused(model, spec_of(2, 8192, 16)));
  const ModelPtr grouped = workloads::model_preset("llama3-8b");
  EXPECT_TRUE(is_unfused(grouped, spec_of(1, 4096, 8)));  // four heads of queries, one of keys
}

TEST(Inference, ALibraryThatNamesALengthTakesItsKernelFromThere) {
  const ModelPtr grouped = workloads::model_preset("llama3-8b");
  GenerationSpec spec = spec_of(2, 1024, 8);
  EXPECT_TRUE(is_unfused(grouped, spec));
  spec.kernel_from = 4096;
  EXPECT_FALSE(is_unfused(grouped, spec));  // below it, the compiler's own attention
  const auto of = [](const char* machine, const std::vector<std::string>& set, const char* stack) {
    Job job{.machine = hw::load_machine(machine, set),
            .model = workloads::model_preset("llama3-8b"),
            .step = {},
            .sizes = {}};
    job.stack = stack;
    job.generation = {.prompt_tokens = 128, .new_tokens = 128, .length = 256};
    return program_spec(job).kernel_from;
  };
  EXPECT_EQ(of("trn1.32xlarge", {}, "transformers-neuronx"), 0);
  EXPECT_EQ(of("trn1.32xlarge", {}, "nxd-inference"), 4096);
  EXPECT_EQ(of("trn2.3xlarge", {"chip.logical=2"}, "nxd-inference"), 256);
}

/// Its kernel takes 2048 keys at a time, also where all scores of a row would fit: there would be a step in the time
/// where they just do. The compiler's own attention does not, nor has any with slopes such a kernel.
TEST(Inference, AKernelTakesKeysInBlocks) {
  const isa::Geometry geometry = hw::load_machine("trn2.3xlarge").target().geometry;
  const auto keys_at_a_time = [&](std::int64_t tokens, std::int64_t kernel_from, const char* preset) {
    GenerationSpec spec = spec_of(1, tokens, 8);
    spec.kernel_from = kernel_from;
    runtime::Graph graph = prompt_of(workloads::model_preset(preset), spec);
    runtime::tile_long_rows(graph, geometry);
    return attention_of(graph).tile_keys;
  };
  EXPECT_EQ(keys_at_a_time(3072, 256, "llama3-8b"), 2048);
  EXPECT_EQ(keys_at_a_time(2048, 256, "llama3-8b"), runtime::AttentionAttrs::kByKernel);
  EXPECT_EQ(keys_at_a_time(3072, 4096, "llama3-8b"), 0);
  EXPECT_EQ(keys_at_a_time(2048, 256, "baichuan2-13b"), 0);
}

/// A prompt of 100 tokens on the two cores of a chip.
Job small_generation() {
  Job job{.machine = hw::load_machine("trn1.2xlarge"),
          .model = workloads::model_preset("llama-small"),
          .step = {},
          .sizes = {}};
  job.generation = PromptAndTokens{.prompt_tokens = 100, .new_tokens = 2, .length = 256};
  job.step.plan = {.tensor = 2, .micro_batch = 1, .numerics = workloads::generation_numerics("bf16")};
  return job;
}

// The scores of 4 prompts of 1024 tokens, 2 heads of each on a core, are 32 MiB in fp32, those of one prompt 4 MiB in
// bf16.
TEST(Inference, ScoresOfAllPromptsPassHbmWhereTheyAreOneTensor) {
  const ModelPtr model = workloads::model_preset("llama2-70b");
  GenerationSpec spec = spec_of(4, 1024, 32);
  EXPECT_EQ(attention_of(prompt_of(model, spec)).tile_keys, runtime::AttentionAttrs::kUnfused);
  const hw::MachineParams machine = hw::load_machine("trn1.32xlarge");
  const auto bytes = [&] {
    const auto compiled = runtime::compile(prompt_of(model, spec), machine.target(), {.name = "prompt", .ranks = 32});
    return static_cast<double>(hw::simulate(compiled.program, machine, {}).dma.read_bytes);
  };
  const double apart = bytes();
  spec.scores_together = true;
  EXPECT_EQ(attention_of(prompt_of(model, spec)).tile_keys, runtime::AttentionAttrs::kUnfusedTogether);
  EXPECT_GT(bytes() - apart, 9.0 * 4 * 2 * 1024 * 1024 * 4);
  spec.batch = 2;
  const double few = bytes();
  spec.scores_together = false;
  EXPECT_EQ(bytes(), few);  // 16 MiB fit in SBUF
}

TEST(Inference, AReleaseWithoutAKernelMakesEachStepOfALongPromptAnOperation) {
  const ModelPtr model = workloads::model_preset("llama2-13b");
  GenerationSpec spec = spec_of(1, 8192, 8);
  EXPECT_EQ(attention_of(prompt_of(model, spec)).tile_keys, 0);
  spec.prompt_kernel = false;
  EXPECT_EQ(attention_of(prompt_of(model, spec)).tile_keys, runtime::AttentionAttrs::kUnfused);
}

// Each of 256 more rows that a token reads is a descriptor in each layer's keys and values: one of each sequence, or
// one of all sequences.
TEST(Inference, ADescriptorReadsTheRowsOfCachesAtAPosition) {
  const ModelPtr model = workloads::model_preset("llama-small");
  GenerationSpec spec = spec_of(4, 512, 1);
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  const auto descriptors = [&](std::int64_t read) {
    spec.read = read;
    const auto compiled = runtime::compile(token_graph(model, spec), machine.target(), {.name = "token"});
    return hw::simulate(compiled.program, machine, {}).dma.descriptors;
  };
  const auto more = [&] { return descriptors(512) - descriptors(256); };
  const auto rows = static_cast<std::uint64_t>(2 * model->sizes().layers * 256);
  EXPECT_EQ(more(), rows * 4);
  spec.beside = true;
  EXPECT_EQ(more(), rows);
}

TEST(Inference, LibrariesSayHowCachesAreLaidOut) {
  Job job = small_generation();
  for (const auto& [stack, beside] :
       {std::pair{"transformers-neuronx", true}, std::pair{"transformers-neuronx-2.18.0", true},
        std::pair{"nxd-inference", false}}) {
    job.stack = stack;
    EXPECT_EQ(program_spec(job).beside, beside) << stack;
  }
}

TEST(Inference, ReleasesThatBuildPromptsDifferentlyAreStacksOfTheirOwn) {
  Job job = small_generation();
  std::set<std::uint64_t> hashes;
  for (const auto& [stack, together, kernel] :
       {std::tuple{"transformers-neuronx", false, true}, std::tuple{"transformers-neuronx-2.19", true, true},
        std::tuple{"transformers-neuronx-2.18.0", true, false}}) {
    job.stack = stack;
    EXPECT_EQ(program_spec(job).scores_together, together) << stack;
    EXPECT_EQ(program_spec(job).prompt_kernel, kernel) << stack;
    hashes.insert(device_hash(job));
  }
  EXPECT_EQ(hashes.size(), 3u);
}

// Sweeps and tables project a job once for all software around it: that of both was what the first one's prompt takes.
TEST(Inference, LibrariesThatBuildPromptsDifferentlyShareNoDeviceTime) {
  Job job = small_generation();
  job.stack = "transformers-neuronx";
  const std::uint64_t by_heads = device_hash(job);
  job.stack = "bare";
  EXPECT_EQ(device_hash(job), by_heads);
  job.stack = "nxd-inference";
  EXPECT_NE(device_hash(job), by_heads);  // it names a length
}

TEST(Inference, CompilationGrowsWithOperationsAndTiles) {
  const ModelPtr model = workloads::model_preset("llama3-8b");
  const CompilerWork one = generation_work(model, spec_of(1, 512, 1), 1),
                     buckets = generation_work(model, spec_of(1, 512, 1), 2);
  EXPECT_DOUBLE_EQ(buckets.operations, 1.5 * one.operations);
  EXPECT_DOUBLE_EQ(buckets.tiles, 1.5 * one.tiles);
  EXPECT_DOUBLE_EQ(generation_work(model, spec_of(1, 512, 8), 1).tiles, one.tiles / 8);
  EXPECT_DOUBLE_EQ(generation_work(model, spec_of(4, 512, 1), 1).tiles, one.tiles * 5 / 2);
  const auto stack = analysis::load_stack("transformers-neuronx");
  EXPECT_GT(compile_seconds(stack, buckets), compile_seconds(stack, one));
}

TEST(Inference, APromptIsPaddedToItsBucket) {
  Job job = small_generation();
  EXPECT_EQ(generation_spec(job).prompt, 128);
  job.generation->bucket = 200;
  EXPECT_EQ(generation_spec(job).prompt, 200);
}

// The host copies embeddings of 128 tokens, 2 bytes a number, to two cores, or ids of 4 bytes.
TEST(Inference, EmbeddingsAreCopiedWhereTheHostLooksThemUp) {
  const auto copies = [](const char* stack) {
    Job job = small_generation();
    job.stack = stack;
    const Projection p = project_generation(job, {.in_child = false});
    const auto& parts = p.generation->prompt.parts;
    const auto found = std::ranges::find(parts, "copies", &analysis::TimeItem::name);
    return std::pair{found->seconds, static_cast<double>(job.model->sizes().hidden)};
  };
  const auto [host, hidden] = copies("transformers-neuronx");
  const double rate = analysis::load_stack("transformers-neuronx").copy_bandwidth.value;
  EXPECT_NEAR(host - copies("nxd-inference").first, 128 * 2 * (2 * hidden - 4) / rate, 1e-12);
}

TEST(Inference, ExpertsOfAShortPromptAreUnrolled) {
  const ModelPtr model = workloads::model_preset("mixtral-8x7b");
  const CompilerWork few = generation_work(model, spec_of(1, 128, 8), 1),
                     many = generation_work(model, spec_of(1, 2048, 8), 1);
  EXPECT_DOUBLE_EQ(few.operations - many.operations, 2.0 * 32 * 8 * 19);
}

}  // namespace
}  // namespace trnsim
