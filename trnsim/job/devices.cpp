#include "trnsim/job/devices.h"

#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "trnsim/machine.h"

namespace trnsim {
namespace {

/// A figure of the job in result.json, or `otherwise`.
double figure_of(const std::filesystem::path& folder, const char* key, double otherwise) {
  const auto body = analysis::read_result(folder).body;
  const auto job = body.value("job", nlohmann::ordered_json::object());
  const auto found = job.find(key);
  return found != job.end() && found->is_number() ? found->get<double>() : otherwise;
}

/// From step to step: result.json knows the host's part; without the figure the device works without a pause.
double step_seconds(const std::filesystem::path& folder, const analysis::Record& record) {
  return figure_of(folder, "step_seconds", hw::seconds(record.result.total));
}

analysis::HostLoad host_load(const std::filesystem::path& folder) {
  return {.seconds = figure_of(folder, "host_step_seconds", 0), .bytes = figure_of(folder, "host_memory_bytes", 0)};
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

RunDevices devices_of_run(const std::filesystem::path& folder) {
  const analysis::RecordInfo info = analysis::read_record(folder).info;
  RunDevices out{.devices = devices_of(load_machine(info.instance_type)), .processes = {}};
  const auto machine = analysis::read_result(folder).body.value("machine", nlohmann::ordered_json::object());
  const int all = out.devices.chips * out.devices.cores_per_chip;
  const auto cores = static_cast<int>(machine.value("cores", std::int64_t{all}));
  out.processes = {.cores = std::min(all, cores), .command = info.command, .runtime = "trnsim " + info.trnsim};
  return out;
}

nlohmann::ordered_json monitor_run(const std::filesystem::path& folder, std::int64_t stage, double period) {
  const analysis::Record record = analysis::read_record(folder, stage);
  const analysis::Devices devices = devices_of(load_machine(record.info.instance_type));
  return analysis::monitor_report(record, devices, period, step_seconds(folder, record), host_load(folder));
}

std::string top_host(const std::filesystem::path& folder, const analysis::Record& record, int width) {
  const analysis::Devices devices = devices_of(load_machine(record.info.instance_type));
  return analysis::top_host(record, devices, step_seconds(folder, record), host_load(folder), width);
}

}  // namespace trnsim
