#include "cli/predict_row.h"

#include <fmt/format.h>

namespace cli {

hw::MachineParams machine_of(std::string instance, const PredictContext& context, std::vector<std::string>& assumed) {
  std::vector<std::string> overrides = context.set;
  if (const auto times = instance.find(" x "); times != std::string::npos) {
    overrides.push_back("cluster.instances=" + instance.substr(0, times));
    instance = instance.substr(times + 3);
  }
  if (instance == "trn1") {
    instance = "trn1.2xlarge";
    assumed.push_back("instance trn1.2xlarge");
  }
  return hw::load_machine(instance, overrides);
}

analysis::Prediction in_row_metric(const analysis::Row& row, const analysis::Measured& measured,
                                   std::vector<std::string> assumptions, std::vector<analysis::TimePart> time) {
  const std::optional<double> value = analysis::in_metric(row.metric, measured);
  if (!value) return analysis::Prediction::skip(fmt::format("metric '{}' is unknown", row.metric));
  return {.value = value, .skip_reason = "", .assumptions = std::move(assumptions), .time = std::move(time)};
}

std::vector<analysis::TimePart> shares(const analysis::JobTime& job) {
  std::vector<analysis::TimePart> parts;
  for (const analysis::TimeItem& item : job.parts)
    if (item.seconds > 0) parts.push_back({item.name, item.seconds / job.total});
  return parts;
}

}  // namespace cli
