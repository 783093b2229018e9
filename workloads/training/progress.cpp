#include "workloads/training/progress.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr const char *kFingerprint = "fingerprint", *kStepsDone = "step", *kLossSum = "loss_sum",
                     *kUnloggedLoss = "unlogged_loss", *kUnloggedSteps = "unlogged_steps", *kHistory = "history";

}  // namespace

std::map<std::string, std::string> TrainProgress::to_text() const {
  return {{kFingerprint, fingerprint},
          {kStepsDone, fmt::format("{}", step)},
          {kLossSum, fmt::format("{:a}", loss_sum)},
          {kUnloggedLoss, fmt::format("{:a}", unlogged_loss)},
          {kUnloggedSteps, fmt::format("{}", unlogged_steps)},
          {kHistory, history}};
}

TrainProgress TrainProgress::from_text(const std::map<std::string, std::string>& text, const std::string& where) {
  const auto refuse = [&](std::string_view what) {
    throw Error{Fault::kData, where, what, "give RUN/checkpoint of an earlier run of this trnsim"};
  };
  for (const char* key : {kFingerprint, kStepsDone, kLossSum, kUnloggedLoss, kUnloggedSteps, kHistory})
    if (!text.contains(key)) refuse(fmt::format("cannot be resumed: it has no {}", key));
  const auto whole = [&](const char* key) {
    std::int64_t value = -1;
    const std::string& digits = text.at(key);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0)
      refuse(fmt::format("has '{}' as {}", digits, key));
    return value;
  };
  const auto real = [&](const char* key) { return std::strtod(text.at(key).c_str(), nullptr); };
  return {.fingerprint = text.at(kFingerprint),
          .step = whole(kStepsDone),
          .loss_sum = real(kLossSum),
          .unlogged_loss = real(kUnloggedLoss),
          .unlogged_steps = whole(kUnloggedSteps),
          .history = text.at(kHistory)};
}

namespace {

/// The settings without the number of steps, and that number: a run may go on for longer, as Hugging Face's do, with
/// the learning rates of the longer one from here on.
std::pair<std::string, std::int64_t> apart_from_steps(const std::string& fingerprint) {
  constexpr std::string_view kSteps = " steps ";
  const std::size_t at = fingerprint.find(kSteps);
  if (at == std::string::npos) return {fingerprint, 0};
  const std::size_t begin = at + kSteps.size(), end = std::min(fingerprint.find(' ', begin), fingerprint.size());
  std::int64_t steps = 0;
  std::from_chars(fingerprint.data() + begin, fingerprint.data() + end, steps);
  return {fingerprint.substr(0, begin) + fingerprint.substr(end), steps};
}

}  // namespace

void require_same_settings(const TrainProgress& then, const std::string& now, const std::string& where) {
  if (then.fingerprint == now) return;
  const auto [settings, steps] = apart_from_steps(now);
  if (settings == apart_from_steps(then.fingerprint).first) {
    if (steps > then.step) return;
    throw Error{Fault::kUsage, where,
                fmt::format("has already done {} of a run of {}", base::counted(then.step, "step"), steps),
                fmt::format("use `max_steps` {} or more, or more `num_train_epochs`", then.step + 1)};
  }
  throw Error{Fault::kData, where,
              fmt::format("belongs to a run with other settings:\n  then: {}\n  now:  {}", then.fingerprint, now),
              "repeat the settings of that run; only a decoder's parallel plan may differ"};
}

}  // namespace workloads
