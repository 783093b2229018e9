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

/// Hears of a generation while it goes on; each may be empty.
struct GenerateObserver {
  /// New text of a sequence, the prompt first; `sequences` of them grow side by side.
  std::function<void(std::size_t sequence, std::size_t sequences, const std::string& text)> grown;
  std::function<void(const Generated&)> written;  // the texts are complete, nothing is timed yet
};

/// `model`: a folder with weights and tokenizer, or a name: then the time alone; `settings` of generation_settings().
/// Without `numerics` weights are computed with in fp32, and a name alone is timed in bf16. Errors: Fault::kUsage for
/// settings that contradict each other or the model; as load_model(), load_tokenizer(), job_of() and project().
Generated generate(const std::string& model, const Settings& settings, const GenerateObserver& observer = {});

/// As `trnsim generate` in JSON prints it; `model` as generate() was given it.
nlohmann::ordered_json to_json(const Generated& generated, const std::string& model);

/// How many experts the programs read, in words; of a model without experts nothing.
std::string experts_text(const Job& job);
/// The bound of a step in words: the host, or the busiest resource of the device.
std::string bound_of(const GenerationStep& step);

}  // namespace trnsim
