// Rows of kind "compile": seconds of the first graph, by the operations that a framework traces.
#include <fmt/format.h>

#include <algorithm>

#include "trnsim/project/compile_cost.h"
#include "validation/predict/predict_row.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/models/registry.h"

namespace validation {
namespace {

/// Operations of a fully connected network: 13 forward and 42 backward ones for three layers, as PyTorch's dispatch
/// mode counts.
double mlp_ops(const Words& graph, analysis::TracedModel traced) {
  traced.tensors = 2.0 * static_cast<double>(std::ranges::count(graph.text("sizes"), '-'));
  traced.forward_ops = 13.0 / 6 * traced.tensors;
  traced.backward_ops = graph.has("training") ? 42.0 / 6 * traced.tensors : 0;
  return analysis::traced_ops(traced);
}

/// A model of the words: a preset, or a family with sizes. Null when it is neither.
workloads::ModelPtr model_of(const Words& graph) {
  workloads::ModelPtr model =
      workloads::is_model_preset(graph.name) ? workloads::model_preset(graph.name) : workloads::blank_model(graph.name);
  if (!model) return nullptr;
  const auto size = [&](const char* key) { return graph.number(key).value_or(0); };
  return model->with_sizes({.layers = size("layers"),
                            .hidden = size("hidden"),
                            .heads = size("heads"),
                            .kv_heads = size("kv_heads"),
                            .head = size("head_size"),
                            .ffn = size("ffn"),
                            .vocabulary = size("vocab"),
                            .experts = size("experts")});
}

/// Graphs of a library that writes text: one for prompts as long as the caches, one for a token.
Prediction predict_generation_graphs(const Row& row, const MicroRow& micro, const PredictContext& context) {
  const Words& graph = micro.kernel;
  constexpr const char* kKnown = "inference batch layers hidden heads kv_heads head_size ffn vocab experts";
  const workloads::ModelPtr model = graph.unknown(kKnown).empty() ? model_of(graph) : nullptr;
  if (!model || !model->decoder() || !micro.seq_len)
    return Prediction::skip(fmt::format("the graphs of '{}' are not known", micro.what));
  const trnsim::CompilerWork work = trnsim::generation_work(model,
                                                            {.batch = graph.number("batch").value_or(1),
                                                             .prompt = *micro.seq_len,
                                                             .length = *micro.seq_len,
                                                             .tensor_parallel = micro.cores.value_or(1),
                                                             .numerics = workloads::generation_numerics("bf16")},
                                                            1);
  const double seconds = trnsim::compile_seconds(context.stack("transformers-neuronx"), work);
  return in_row_metric(row, {.seconds = seconds},
                       {fmt::format("{:.0f} operations and {:.0f} matmuls of tiles of weights in two graphs",
                                    work.operations, work.tiles)},
                       {{"compilation", 1}});
}

/// Operations of the graph; or why they are not known.
std::variant<double, std::string> ops_of(const MicroRow& row, std::vector<std::string>& assumed) {
  const Words& graph = row.kernel;
  const bool trains = graph.has("training");
  // Hugging Face's Trainer clips gradients; plain loops do not.
  const analysis::TracedModel traced{.optimizer = trains ? "adamw" : "", .clips = graph.has("trainer")};
  if (graph.name == "mlp") return mlp_ops(graph, traced);
  if (!workloads::is_model_preset(graph.name) || !graph.unknown("layers training trainer lora head").empty())
    return fmt::format("the operations of '{}' are not known", row.what);
  workloads::ModelPtr model = workloads::model_preset(graph.name);
  if (const auto layers = graph.number("layers")) model = model->with_sizes({.layers = *layers});
  workloads::Step step;
  step.plan.tensor = model->decoder() ? row.cores.value_or(1) : 1;
  step.plan.sequence = step.plan.tensor > 1;
  step.kind.head = graph.text("head") == "tokens" ? workloads::Head::kTokens : workloads::Head::kClassifier;
  if (graph.has("lora")) {  // as such scripts have it
    step.plan.recompute = workloads::Recompute::kFull;
    assumed.push_back("recomputation; adapters not counted");
  }
  const workloads::FrameworkOps ops = model->traced_ops(step);
  analysis::TracedModel all = traced;
  all.forward_ops = ops.forward, all.backward_ops = trains ? ops.backward : 0, all.tensors = ops.tensors;
  return analysis::traced_ops(all);
}

}  // namespace

Prediction predict_compile(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  if (micro.kernel.has("inference")) return predict_generation_graphs(row, micro, context);
  const analysis::Stack stack = context.stack("torch-xla-2025");
  std::vector<std::string> assumed;
  const auto ops = ops_of(micro, assumed);
  if (const auto* why = std::get_if<std::string>(&ops)) return Prediction::skip(*why);
  const double count = std::get<double>(ops);
  const bool warm = micro.cold == Known::kNo;
  const double seconds =
      warm ? count * stack.start_per_op.value : stack.compile_base.value + count * stack.compile_per_op.value;
  assumed.push_back(fmt::format("{:.0f} framework operations{}", count, warm ? ", from the cache" : ""));
  return in_row_metric(row, {.seconds = seconds}, std::move(assumed), {{"compilation", 1}});
}

}  // namespace validation
