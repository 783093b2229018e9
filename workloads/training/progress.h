// How far a training has come, and with which settings: a checkpoint's content besides the state.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace workloads {

struct TrainProgress {
  std::string fingerprint;   // settings that decide the bits
  std::int64_t step = 0;     // steps done
  double loss_sum = 0;       // of them
  double unlogged_loss = 0;  // of the last of them, since the history's last entry
  std::int64_t unlogged_steps = 0;
  std::string history;  // trainer_state.json

  /// As the metadata of a checkpoint, and back. Errors: Fault::kData naming `where` when something is missing or no
  /// number.
  std::map<std::string, std::string> to_text() const;
  static TrainProgress from_text(const std::map<std::string, std::string>& text, const std::string& where);
};

/// Errors: Fault::kData, with both, when the checkpoint in `where` is of another run than this one.
void require_same_settings(const TrainProgress& then, const std::string& now, const std::string& where);

}  // namespace workloads
