// Models as tables of published figures name them: a few words, and the sizes that somebody printed.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "workloads/models/model.h"

namespace workloads {

struct PublishedModel {
  std::string name;         // "bert-large", "XLM-RoBERTa", "ViT-B/16, 224 pixels", whatever the case
  std::string notes{};      // what else is said of the job
  Sizes sizes{};            // 0: not published; `vocabulary` of a model without one: its labels
  std::int64_t length = 0;  // tokens of a sequence; 0: not published
};

/// The preset of that name or another model of the family that the name says, in the published sizes. What it has
/// otherwise than the model, and what nobody published, is said in `assumed`. Or why there is none: no family here
/// computes it (DeBERTa), or a size is missing. Errors: Fault::kUsage when sizes
/// contradict each other.
std::variant<ModelPtr, std::string> published_model(const PublishedModel& published, std::vector<std::string>& assumed);

}  // namespace workloads
