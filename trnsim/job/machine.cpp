#include "trnsim/job/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/record/result.h"
#include "base/error.h"

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

base::Table parameter_table(const base::ParamFile& machine, std::string_view prefix) {
  const std::vector<std::string> keys = machine.keys(prefix);
  if (keys.empty())
    throw base::Error{base::Fault::kUsage, "`prefix`", fmt::format("no parameter begins with '{}'", prefix),
                      "list all of them without it"};
  base::Table table{{{"key", ""}, {"value", ""}, {"source", ""}, {"fitted_on", ""}, {"read_off", ""}, {"text", ""}}};
  for (const std::string& key : keys) {
    const base::Parameter& p = machine.parameter(key);
    table.add_row({p.key, fmt::format("{}", fmt::join(p.values, ", ")), p.source,
                   fmt::format("{}", fmt::join(p.fitted_on, ", ")), fmt::format("{}", fmt::join(p.read_off, ", ")),
                   p.text});
  }
  return table;
}

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
