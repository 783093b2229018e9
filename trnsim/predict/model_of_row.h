// The model that a training row names: its family by the name, its sizes by the columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/validation.h"
#include "workloads/model.h"

namespace trnsim {

enum class Family { kNone, kBlocks, kEncoder, kDecoder };

/// By the words of the name, whatever their case: "bert-large", "xlm-roberta-base", "Llama-2-7b", "gpt-neox-20b",
/// "4 decoder blocks". kNone: nothing here computes such a model (T5, ViT, ALBERT, whose layers share weights).
Family family_of(std::string_view model);

/// The preset of that name, or a model of the family, with the sizes that the row's columns give. What the family has
/// otherwise than the model is said in `assumed`. Nothing when a size is not published.
std::optional<workloads::ModelPtr> encoder_config_of(const analysis::TrainingRow& row,
                                                     std::vector<std::string>& assumed);
std::optional<workloads::ModelPtr> decoder_config_of(const analysis::TrainingRow& row,
                                                     std::vector<std::string>& assumed);

}  // namespace trnsim
