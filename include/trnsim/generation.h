// Text from real weights, token by token, on simulated cores, and the time of the same programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trnsim/projection.h"

namespace trnsim {

struct GeneratedText {
  std::vector<std::int32_t> ids;  // of the prompt and the generated text
  std::string text;
};

struct Generated {
  Job job;
  std::vector<GeneratedText> texts;  // empty without weights
  Projection projection;
};

/// Callbacks during a generation; each may be empty.
struct GenerateObserver {
  /// New text of one of `sequences` sequences that grow side by side, the prompt first.
  std::function<void(std::size_t sequence, std::size_t sequences, const std::string& text)> grown;
  std::function<void(const Generated&)> written;  // the texts are complete, nothing is timed yet
};

/// `model`: a folder with weights and tokenizer, or a name, which gives only the time; `settings`: from
/// generation_settings(). Without `numerics` weights compute in fp32, and a name is timed in bf16. Errors:
/// Fault::kUsage for settings that contradict each other or the model; as load_model(), load_tokenizer(), job_of() and
/// project().
Generated generate(const std::string& model, const Settings& settings, const GenerateObserver& observer = {});

/// The JSON output of `trnsim generate`; `model` as passed to generate().
nlohmann::ordered_json to_json(const Generated& generated, const std::string& model);

/// The number of experts that the programs read, in words; empty for a model without experts.
std::string experts_text(const Job& job);
/// The tokens that a prompt is padded to.
std::int64_t prompt_bucket(const Job& job);
/// How a model's sizes change where the cores of a generation do not divide them, in words; empty: they do not.
std::string padding_text(const Job& job);
/// The bound of a step in words: the host, or the busiest resource of the device.
std::string bound_of(const GenerationStep& step);

}  // namespace trnsim
