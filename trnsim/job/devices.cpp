#include "trnsim/job/devices.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "hw/trace.h"
#include "trnsim/machine.h"

namespace trnsim {
namespace {

/// From step to step: the result knows the host's part; without the figure the device works without a pause.
double step_seconds(const analysis::Figures& figures, const analysis::Record& record) {
  return figures.time.step_seconds.value_or(hw::seconds(record.result.total));
}

analysis::HostLoad host_load(const analysis::Figures& figures) {
  return {.seconds = figures.time.host_step_seconds.value_or(0),
          .bytes = figures.compile.host_memory_bytes.value_or(0)};
}

}  // namespace

analysis::Devices devices_of(const hw::MachineParams& machine) {
  return {.instance_type = machine.name,
          .chips = static_cast<int>(machine.chips.value),
          .cores_per_chip = static_cast<int>(machine.cores.value),
          .memory = machine.hbm_bytes.value,
          .rows = static_cast<int>(machine.torus_rows.value),
          .columns = static_cast<int>(machine.torus_columns.value),
          .generation = static_cast<int>(machine.generation.value),
          .vcpus = machine.vcpus.value,
          .host_memory = machine.host_memory.value};
}

namespace {

/// The machine of a run, whose cores may have been joined otherwise than by default.
analysis::Devices recorded_devices(const analysis::RecordInfo& info) {
  analysis::Devices devices = devices_of(load_machine(info.instance_type));
  devices.cores_per_chip = static_cast<int>(info.cores_per_chip);
  return devices;
}

}  // namespace

RunDevices devices_of_run(const std::filesystem::path& folder) {
  const analysis::RecordInfo info = analysis::read_record(folder).info;
  RunDevices out{.devices = recorded_devices(info), .processes = {}};
  const int all = out.devices.chips * out.devices.cores_per_chip;
  const double cores = analysis::read_result(folder).machine.cores.value_or(all);
  out.processes = {.cores = static_cast<int>(std::clamp(cores, 0.0, static_cast<double>(all))),
                   .command = info.command,
                   .runtime = "trnsim " + info.trnsim};
  return out;
}

nlohmann::ordered_json monitor_run(const std::filesystem::path& folder, std::int64_t stage, double period) {
  const analysis::Record record = analysis::read_record(folder, stage);
  const analysis::Devices devices = recorded_devices(record.info);
  const analysis::Figures figures = analysis::read_result(folder);
  return analysis::monitor_report(record, devices, period, step_seconds(figures, record), host_load(figures));
}

std::string top_host(const std::filesystem::path& folder, const analysis::Record& record, int width) {
  const analysis::Devices devices = recorded_devices(record.info);
  const analysis::Figures figures = analysis::read_result(folder);
  return analysis::top_host(record, devices, step_seconds(figures, record), host_load(figures), width);
}

}  // namespace trnsim
