#include "trnsim/run/train.h"
#include "workloads/tasks/metrics.h"

namespace trnsim {

std::string metrics_block(const workloads::EvalRecord& evaluation) {
  const std::string key = evaluation.split + "_";
  workloads::Metrics metrics{
      {"epoch", evaluation.epoch}, {key + "loss", evaluation.loss}, {key + "samples", evaluation.samples}};
  for (const auto& [name, value] : evaluation.scores) metrics.emplace_back(key + name, value);
  return workloads::metrics_block(evaluation.split, metrics);
}

std::string metrics_block(const Training& training) {
  const workloads::TrainOutcome& o = training.outcome;
  const double simulated = static_cast<double>(o.steps) * training.simulated_step_seconds;
  workloads::Metrics metrics;
  if (o.steps > 0) metrics = workloads::speed_metrics("train", simulated, o.steps * training.samples_per_step, o.steps);
  metrics.push_back({"epoch", o.epoch});
  metrics.push_back({"total_flos", o.total_flos});
  metrics.push_back({"train_loss", o.train_loss});
  return workloads::metrics_block("train", metrics);
}

}  // namespace trnsim
