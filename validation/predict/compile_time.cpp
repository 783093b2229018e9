// Rows of kind "compile": seconds of the first graph, by what a framework traces of it.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/text.h"
#include "validation/predict/predict_row.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

using analysis::Prediction;
using analysis::Row;

/// What a graph's name says of its model, in small letters without what names spell in several ways.
std::string plain(std::string_view text) {
  std::string out = base::lower(text);
  std::erase_if(out, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return out;
}

/// The number in front of or behind a word: "4 layers", "hidden 64".
std::optional<std::int64_t> number_of(const std::string& text, const char* word) {
  std::smatch found;
  if (std::regex_search(text, found, std::regex{fmt::format(R"((\d+)\s+{0}|{0}\s+(\d+))", word)}))
    return std::stoll(found[1].matched ? found[1] : found[2]);
  return std::nullopt;
}

/// The preset with the longest name that the text has, at any size that the text gives.
workloads::ModelPtr model_in(const std::string& text) {
  workloads::ModelPtr best;
  std::size_t length = 0;
  for (const std::string& name : workloads::model_preset_names())
    if (plain(text).find(plain(name)) != std::string::npos && name.size() > length)
      best = workloads::model_preset(name), length = name.size();
  if (!best && plain(text).find("vit") != std::string::npos) best = workloads::model_preset("vit-mnist");
  if (!best && plain(text).find("tinyllama") != std::string::npos)  // its config.json
    best = workloads::model_preset("llama2-7b")->with_sizes({.layers = 22});
  if (const auto layers = number_of(text, "layers"); best && layers) best = best->with_sizes({.layers = *layers});
  return best;
}

bool has_word(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

/// Operations of the graph; or why they are not known. A fully connected network: 13 forward and 42 backward ones for
/// three layers, as PyTorch's dispatch mode counts.
std::variant<double, std::string> ops_of(const Row& row, double more_per_tensor, std::vector<std::string>& assumed) {
  const auto& micro = std::get<analysis::MicroRow>(row.job);
  const std::string text = base::lower(micro.what);
  const bool trains = has_word(text, "train");
  const bool trainer =
      has_word(text, "ner") || has_word(text, "lora");  // Hugging Face's, which clips; plain loops do not
  analysis::TracedModel traced{.optimizer = trains ? "adamw" : "", .clips = trainer, .optimizer_ops = more_per_tensor};
  std::smatch found;
  if (std::regex_search(text, found, std::regex{R"((\d+(?:-\d+)+))"}) && has_word(text, "mlp")) {
    const std::string sizes = found[1];
    traced.tensors = 2.0 * static_cast<double>(std::ranges::count(sizes, '-'));
    traced.forward_ops = 13.0 / 6 * traced.tensors, traced.backward_ops = trains ? 42.0 / 6 * traced.tensors : 0;
    return analysis::traced_ops(traced);
  }
  const workloads::ModelPtr model = model_in(text);
  if (!model) return fmt::format("the operations of '{}' are not known", micro.what);
  workloads::Step step;
  step.plan.tensor = model->decoder() ? micro.cores.value_or(1) : 1;
  step.plan.sequence = step.plan.tensor > 1;
  step.kind.head =
      has_word(text, "ner") || has_word(text, "token") ? workloads::Head::kTokens : workloads::Head::kClassifier;
  if (has_word(text, "lora")) {  // as such scripts have it
    step.plan.recompute = workloads::Recompute::kFull;
    assumed.push_back("recomputation; adapters not counted");
  }
  const workloads::FrameworkOps ops = model->traced_ops(step);
  traced.forward_ops = ops.forward, traced.backward_ops = trains ? ops.backward : 0, traced.tensors = ops.tensors;
  return analysis::traced_ops(traced);
}

}  // namespace

Prediction predict_compile(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<analysis::MicroRow>(row.job);
  const analysis::Stack stack = context.stack("torch-xla-2025");
  std::vector<std::string> assumed;
  const auto ops = ops_of(row, 0, assumed);
  if (const auto* why = std::get_if<std::string>(&ops)) return Prediction::skip(*why);
  const double count = std::get<double>(ops);
  const bool warm = micro.cold == analysis::Known::kNo;
  const double seconds =
      warm ? count * stack.start_per_op.value : stack.compile_base.value + count * stack.compile_per_op.value;
  assumed.push_back(fmt::format("{:.0f} framework operations{}", count, warm ? ", from the cache" : ""));
  return in_row_metric(row, {.seconds = seconds}, std::move(assumed), {{"compilation", 1}});
}

}  // namespace trnsim
