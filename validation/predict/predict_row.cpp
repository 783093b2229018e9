#include "validation/predict/predict_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/names.h"

namespace validation {

hw::MachineParams machine_of(std::string instance, const PredictContext& context, std::vector<std::string>& assumed) {
  std::vector<std::string> overrides = context.set;
  if (const auto times = instance.find(" x "); times != std::string::npos) {
    overrides.push_back("cluster.instances=" + instance.substr(0, times));
    instance = instance.substr(times + 3);
  }
  instance = instance.substr(0, instance.find(" ("));  // words about it, such as "(the same NeuronCore-v2)"
  if (instance == "trn1") {
    instance = "trn1.2xlarge";
    assumed.push_back("instance trn1.2xlarge");
  }
  if (instance == "trn2" || instance.starts_with("trn2 ")) {
    instance = "trn2.3xlarge";
    assumed.push_back("instance trn2.3xlarge");
  }
  if (instance == "inf2") {
    instance = "inf2.xlarge";
    assumed.push_back("instance inf2.xlarge");
  }
  return hw::load_machine(instance, overrides);
}

PredictContext on_physical_cores(PredictContext context) {
  context.set.insert(context.set.begin(), "chip.logical=1");
  return context;
}

hw::MachineParams machine_of_job(const TrainingRow& job, const PredictContext& context,
                                 std::vector<std::string>& assumed) {
  const int nodes = job.nodes.value_or(1);
  const std::string instances = nodes > 1 ? fmt::format("{} x {}", nodes, job.instance) : job.instance;
  hw::MachineParams machine = machine_of(instances, context, assumed);
  if (machine.logical.value == 1) return machine;
  if (job.cores.value_or(job.tp.value_or(1)) / nodes > machine.instance_cores()) {
    std::vector<std::string> said_before;
    return machine_of(instances, on_physical_cores(context), said_before);
  }
  assumed.emplace_back("logical cores of two (LNC=2)");
  return machine;
}

DeviceWork work_of(const hw::SimResult& result, double times) {
  const auto seconds = [&](hw::Fs time) { return hw::seconds(time) * times; };
  const double bytes = static_cast<double>(result.dma.read_bytes + result.dma.written_bytes);
  double sent = 0;
  for (const hw::CollectiveTime& collective : result.collectives) sent += static_cast<double>(collective.link_bytes);
  DeviceWork work;
  work.ideal = times * std::max({result.matmul_flops / result.peaks.matmul_flops, bytes / result.peaks.hbm_bandwidth,
                                 sent / result.peaks.link_bandwidth});
  for (int e = 0; e < isa::kEngineCount; ++e)
    work.busy.emplace_back(isa::name_of(static_cast<isa::Engine>(e)), seconds(result.engines[e].busy));
  work.busy.emplace_back("dma engines", result.dma.engine_busy * 1e-15 / result.peaks.dma_engines * times);
  work.busy.emplace_back("collectives", seconds(result.collective_active));
  return work;
}

DeviceWork operator+(DeviceWork a, const DeviceWork& b) {
  if (a.busy.empty()) return b;
  base::ensure(a.busy.size() == b.busy.size(), "device work", "two programs on machines with different engines");
  a.ideal += b.ideal;
  for (std::size_t i = 0; i < a.busy.size(); ++i) a.busy[i].second += b.busy[i].second;
  return a;
}

Prediction in_row_metric(const Row& row, const Measured& measured, std::vector<std::string> assumptions,
                         std::vector<TimePart> time, DeviceWork work) {
  const auto value = in_metric(row.metric, measured);
  if (const auto* why = std::get_if<std::string>(&value)) return Prediction::skip(*why);
  work.seconds = measured.seconds;
  return {.value = std::get<double>(value),
          .skip_reason = "",
          .assumptions = std::move(assumptions),
          .time = std::move(time),
          .work = std::move(work)};
}

std::vector<TimePart> shares(const analysis::JobTime& job) {
  std::vector<TimePart> parts;
  for (const analysis::TimeItem& item : job.parts)
    if (item.seconds > 0) parts.push_back({item.name, item.seconds / job.total});
  return parts;
}

}  // namespace validation
