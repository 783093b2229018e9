#include "validation/predict/model_of_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/presets.h"
#include "workloads/models/registry.h"

namespace validation {
namespace {

using workloads::ModelPtr;
using workloads::Sizes;

/// The preset of that name, or of one that only its case or hyphens distinguish; or null.
ModelPtr preset_of(std::string_view name) {
  const auto plain = [](std::string_view text) {
    std::string out = base::lower(text);
    std::erase_if(out, [](char c) { return c == '-' || c == '_' || c == ' '; });
    return out;
  };
  for (const std::string& preset : workloads::model_preset_names())
    if (plain(preset) == plain(name)) return workloads::model_preset(preset);
  return nullptr;
}

/// The row's model except for its sizes; null for an unsupported one.
ModelPtr base_of(const TrainingRow& row) {
  ModelPtr model = preset_of(row.model);
  const bool told = !row.like.empty() && row.like != kBlocks;
  if (!model && told) model = workloads::blank_model(row.like);  // "gpt2" is also a preset: the family is meant
  if (!model && told) model = workloads::model_preset(row.like);
  return model && model->task() != workloads::Task::kTextToText ? model : nullptr;
}

/// As the row has them; 0: not published.
Sizes sizes_of(const TrainingRow& row, std::int64_t positions) {
  const auto size = [](const std::optional<int>& cell) { return std::int64_t{std::max(cell.value_or(0), 0)}; };
  return {.layers = size(row.layers),
          .hidden = size(row.hidden),
          .heads = size(row.heads),
          .kv_heads = size(row.kv_heads),
          .ffn = size(row.ffn),
          .vocabulary = size(row.vocab),
          .positions = std::max(positions, size(row.seq_len))};
}

/// A model of pictures, of those of the row.
ModelPtr with_picture(const TrainingRow& row, const ModelPtr& model) {
  if (!model->image()) return model;
  workloads::ImageShape image = *model->image();
  if (row.image) image.size = *row.image;
  if (row.channels) image.channels = *row.channels;
  if (row.patch) image.patch = *row.patch;
  return model->with({.image = image});
}

/// Whether the model has all of its sizes: of the row, or of the preset that it is.
bool is_complete(const TrainingRow& row, const workloads::Model& model) {
  if (workloads::is_model_preset(row.like) && !preset_of(row.model) &&
      !(row.layers && row.hidden && row.heads && row.ffn))
    return false;  // the preset lends its kind, not its sizes
  const Sizes s = model.sizes();
  if (std::min({s.layers, s.hidden, s.heads, s.ffn}) <= 0) return false;
  return model.image() || (row.seq_len.value_or(0) > 0 && s.vocabulary > 0);
}

/// A picture's sequence is its patches and the class token: a row may count a token less, or one of distillation more.
void require_length(const TrainingRow& row, const workloads::Model& model, std::vector<std::string>& assumed) {
  model.require_valid(row.model);
  const std::int64_t tokens = model.sequence_length(0), length = row.seq_len.value_or(0);
  if (length <= 0 || length == tokens) return;
  if (std::abs(length - tokens) > 1)
    throw base::Error{base::Fault::kUsage, "length",
                      fmt::format("pictures of {0} x {0} in patches of {1} x {1} are sequences of {2}, not of {3}",
                                  model.image()->size, model.image()->patch, tokens, length),
                      "correct the sizes"};
  assumed.push_back(fmt::format("a class token and {} patches", tokens - 1));
}

/// A classifier tells apart as many labels as the row says; or as those of the published tasks: ImageNet's 1000 kinds
/// of pictures, 6 emotions of a text, the 9 tags of CoNLL-2003's entities.
ModelPtr with_labels(const TrainingRow& row, const ModelPtr& model) {
  const int usual = model->image() ? 1000 : row.head == "tokens" ? 9 : 6;
  return model->with_labels(std::vector<std::string>(static_cast<std::size_t>(row.labels.value_or(usual)), ""));
}

/// Positions of an encoder of texts, at the least: they are all trained, for any length of the row.
constexpr std::int64_t kLeastPositions = 512;

}  // namespace

std::variant<ModelPtr, std::string> model_of_row(const Row& row, std::vector<std::string>& assumed) {
  const auto& job = std::get<TrainingRow>(row.job);
  const ModelPtr like = base_of(job);
  if (!like) return fmt::format("model '{}' is not modelled", job.model);
  const bool classifies = like->task() == workloads::Task::kClassification;
  const std::int64_t least = classifies && !like->image() ? kLeastPositions : 0;
  ModelPtr model = with_picture(job, like)->with_sizes(sizes_of(job, std::max(least, like->sizes().positions)));
  if (!is_complete(job, *model)) return std::string{"a size of the model is not published"};
  if (!row.assumed.empty())
    for (const std::string& part : base::split(row.assumed, ';')) assumed.emplace_back(base::trim(part));
  if (model->image()) require_length(job, *model, assumed);
  if (classifies) model = with_labels(job, model);
  if (job.dropout == Known::kNo) model = model->without_dropout();
  if (job.tied == Known::kNo) model = model->with({.own_head = true});
  return model;
}

}  // namespace validation
