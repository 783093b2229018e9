// trainer_state.json, in which Hugging Face's Trainer keeps the history of a run; scripts read its log_history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/tasks/metrics.h"

namespace workloads {

/// One line of log_history: the values logged at a step.
struct LogEntry {
  double epoch = 0;
  std::int64_t step = 0;
  Metrics values{};  // "loss", "learning_rate", "grad_norm", or "eval_loss", ..., or "train_runtime", ...
};

struct TrainerState {
  double epoch = 0;
  std::int64_t global_step = 0;
  std::int64_t max_steps = 0;
  std::int64_t num_train_epochs = 0;
  std::int64_t logging_steps = 500;
  std::int64_t save_steps = 500;
  std::int64_t train_batch_size = 8;
  double total_flos = 0;
  std::vector<LogEntry> log_history{};
};

enum class TrainerStateForm : std::uint8_t { kIndented, kDense };

/// Keys sorted, indented by 2 (or not at all), with a newline at the end, as json.dumps(..., indent=2, sort_keys=True)
/// + "\n"; numbers that are not finite are null, which Python's json would write as NaN.
std::string trainer_state_json(const TrainerState& state, TrainerStateForm form = TrainerStateForm::kIndented);

/// From such a text. Errors: Fault::kData naming `where` and the key that is missing or wrong.
TrainerState trainer_state_of(const std::string& json, const std::string& where);

}  // namespace workloads
