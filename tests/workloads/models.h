// Models of one family as tests look at them: by their configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/plain.h"
#include "workloads/models/presets.h"

namespace workloads_test {

inline std::string config_json(const workloads::ModelPtr& model) { return model->config_json(); }
inline std::vector<workloads::WeightSpec> model_weights(const workloads::ModelPtr& model) { return model->weights(); }

/// The configuration of a model of this family.
template <class Config>
Config config_of(const workloads::ModelPtr& model) {
  return *workloads::config_if<Config>(model);
}

inline workloads::BertConfig bert_preset(std::string_view name) {
  return config_of<workloads::BertConfig>(workloads::model_preset(name));
}

/// Changes a model of this family.
template <class Config, class Change>
void edit(workloads::ModelPtr& model, const Change& change) {
  Config config = config_of<Config>(model);
  change(config);
  model = config;
}

}  // namespace workloads_test
