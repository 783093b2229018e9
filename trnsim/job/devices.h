// Machines as the devices that the Neuron tools show, and the activity of a run on them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "analysis/neuron_tools/device_view.h"
#include "hw/machine_params.h"

namespace trnsim {

analysis::Devices devices_of(const hw::MachineParams& machine);

/// The processes of a run, as neuron-ls shows them. Errors: as analysis::read_record().
struct RunDevices {
  analysis::Devices devices;
  analysis::Processes processes;
};
RunDevices devices_of_run(const std::filesystem::path& folder);

/// neuron-monitor's report of `period` seconds of a run (analysis/neuron_tools/device_view.h). `stage` of a pipeline;
/// -1: the one that sets its pace. Errors: as analysis::read_record() and monitor_report().
nlohmann::ordered_json monitor_run(const std::filesystem::path& folder, std::int64_t stage, double period);

/// The host's lines of neuron-top for a run (analysis::top_host()).
std::string top_host(const std::filesystem::path& folder, const analysis::Record& record, int width);

}  // namespace trnsim
