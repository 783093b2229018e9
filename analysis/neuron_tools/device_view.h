// The simulated instance in the forms of neuron-ls, neuron-monitor and neuron-top.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/record/record.h"

namespace analysis {

/// An instance as neuron-ls describes it. Chips form a torus of rows x columns; 1 x 1: a single chip.
struct Devices {
  std::string instance_type;
  int chips = 1, cores_per_chip = 2;
  double memory = 0;  // bytes per chip
  int rows = 1, columns = 1;
  int generation = 2;  // of the NeuronCores: 2 on Trainium, 3 on Trainium2 (AWS Neuron docs, nki.isa.nc_version)
  double vcpus = 0, host_memory = 0;  // of the instance's host; bytes
};

/// The load of a job on the host of an instance.
struct HostLoad {
  double seconds = 0;  // per process and step: tracing, launches
  double bytes = 0;
};

/// Chips with a link to `chip`, in ascending order.
std::vector<int> neighbours(const Devices& devices, int chip);

/// The running processes: one on each of the first `cores` cores.
struct Processes {
  int cores = 0;
  std::string command, runtime;
};

/// neuron-ls: the table (`wide`: with whole command lines), `--topology`, `--json-output`. Buses and CPUs are not
/// simulated: "-", absent in JSON; a process has the number of its core.
std::string ls_table(const Devices& devices, const Processes& processes = {}, bool wide = false);
std::string ls_topology(const Devices& devices);
nlohmann::ordered_json ls_json(const Devices& devices, const Processes& processes = {});

/// One report of neuron-monitor for `period` seconds of a steady training: the record is one device step,
/// `step_seconds` the time from step to step (not below the device's). Groups that trnsim does not simulate carry an
/// `error` instead of figures. Errors: Fault::kUsage for a period or step that is not above 0.
nlohmann::ordered_json monitor_report(const Record& record, const Devices& devices, double period, double step_seconds,
                                      const HostLoad& host = {});

/// A frame of neuron-top: the slowest core in [from, until) seconds of its step. Lines of at most `width`
/// columns, each with a newline. Errors: Fault::kUsage for an empty window.
std::string top_frame(const Record& record, double from, double until, int width);
/// The part of neuron-top below its engines: vCPUs, host memory, the model on its cores.
std::string top_host(const Record& record, const Devices& devices, double step_seconds, const HostLoad& host,
                     int width);

}  // namespace analysis
