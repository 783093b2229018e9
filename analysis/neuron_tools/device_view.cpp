#include "analysis/neuron_tools/device_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/profile/memory_use.h"
#include "analysis/profile/views.h"
#include "base/error.h"
#include "isa/names.h"

namespace analysis {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

/// A table in the frame that scripts around neuron-ls look for: "| 0 | 2 | ...".
std::string framed(const std::vector<Cells>& head, const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(head[0].size(), 0);
  for (const auto* part : {&head, &rows}) {
    for (const Cells& row : *part) {
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
  }
  std::string rule = "+";
  for (const std::size_t width : widths) rule += std::string(width + 2, '-') + "+";
  rule += "\n";
  const auto print = [&](const std::vector<Cells>& part) {
    std::string out;
    for (const Cells& row : part) {
      for (std::size_t c = 0; c < row.size(); ++c) out += fmt::format("| {:<{}} ", row[c], widths[c]);
      out += "|\n";
    }
    return out;
  };
  return rule + print(head) + rule + print(rows) + rule;
}

std::vector<int> core_ids(const Devices& devices, int chip) {
  std::vector<int> ids;
  for (int c = 0; c < devices.cores_per_chip; ++c) ids.push_back(chip * devices.cores_per_chip + c);
  return ids;
}

std::string memory_text(double bytes) { return fmt::format("{:g} GB", std::round(bytes / (1ull << 30))); }

/// Seconds of [from, until) that [begin, end) covers.
double overlap(double from, double until, hw::Fs begin, hw::Fs end) {
  return std::max(0.0, std::min(until, hw::seconds(end)) - std::max(from, hw::seconds(begin)));
}

std::string bar_line(std::string_view name, double share, int width) {
  const int room = std::max(10, width - 24);
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * room));
  return fmt::format("{:<14}[{}{}] {:5.1f}%\n", name.substr(0, 14), std::string(static_cast<std::size_t>(full), '|'),
                     std::string(static_cast<std::size_t>(room - full), ' '), share * 100);
}

Json percentiles(double seconds) {
  Json all = Json::object();
  for (const char* p : {"p0", "p1", "p25", "p50", "p75", "p99", "p100"}) all[p] = seconds;
  return all;
}

/// Bytes of one core under neuron-monitor's headings, at the peak of the step.
Json core_memory(const Record& record) {
  const MemoryUse memory = memory_use(record);
  double tensors = 0, scratchpad = 0, runtime = 0;
  for (std::size_t k = 0; k < memory.kinds.size(); ++k) {
    const std::string& kind = memory.kinds[k];
    const double bytes = memory.bytes[k].empty() ? 0 : memory.bytes[k][memory.peak_call];
    const bool of_software = kind == "runtime" || kind == "dma_rings";
    (of_software ? runtime : kind == "workspace" || kind == "activations" ? scratchpad : tensors) += bytes;
  }
  return {{"constants", 0},
          {"model_code", 0},
          {"model_shared_scratchpad", scratchpad},
          {"runtime_memory", runtime},
          {"tensors", tensors}};
}

int cores_in_use(const Record& record, const Devices& devices) {
  return std::min(devices.chips * devices.cores_per_chip, static_cast<int>(record.program.ranks));
}

/// Usage of all vCPUs, in per cent: one process per core, on one vCPU at a time.
double vcpu_percent(const Record& record, const Devices& devices, double step_seconds, const HostLoad& host) {
  if (devices.vcpus <= 0) return 0;
  const double busy = std::min(1.0, host.seconds / step_seconds) * cores_in_use(record, devices);
  return 100 * std::min(1.0, busy / devices.vcpus);
}

Json vcpu_usage(double user) {
  return {{"user", user},   {"nice", 0.0}, {"system", 0.0},  {"idle", 100 - user},
          {"io_wait", 0.0}, {"irq", 0.0},  {"soft_irq", 0.0}};
}

Json system_data(const Devices& devices, double period, double user, const HostLoad& host) {
  Json chips = Json::array(), each = Json::object();
  for (int chip = 0; chip < devices.chips; ++chip)
    chips.push_back({{"neuron_device_index", chip},
                     {"mem_ecc_corrected", 0},
                     {"mem_ecc_uncorrected", 0},
                     {"sram_ecc_corrected", 0},
                     {"sram_ecc_uncorrected", 0}});
  for (int cpu = 0; cpu < static_cast<int>(devices.vcpus); ++cpu) each[std::to_string(cpu)] = vcpu_usage(user);
  return {{"neuron_hw_counters", {{"period", period}, {"neuron_devices", chips}, {"error", ""}}},
          {"vcpu_usage",
           {{"period", period},
            {"average_usage", vcpu_usage(user)},
            {"usage_data", each},
            {"context_switch_count", 0},
            {"error", ""}}},
          {"memory_info",
           {{"period", period},
            {"memory_total_bytes", std::llround(devices.host_memory)},
            {"memory_used_bytes", std::llround(host.bytes)},
            {"swap_total_bytes", 0},
            {"swap_used_bytes", 0},
            {"error", ""}}}};
}

/// The program as neuron-monitor lists a loaded model: a subgraph on each core.
Json loaded_models(const Record& record, const Devices& devices) {
  Json graphs = Json::object();
  for (int core = 0; core < cores_in_use(record, devices); ++core)
    graphs[fmt::format("sg_{:02}", core)] = {
        {"memory_used_bytes",
         {{"host", 0}, {"neuron_device", memory_use(record).peak}, {"usage_breakdown", core_memory(record)}}},
        {"neuroncore_index", core % devices.cores_per_chip},
        {"neuron_device_index", core / devices.cores_per_chip}};
  return Json::array({{{"name", record.program.name},
                       {"uuid", ""},
                       {"model_id", 10001},
                       {"is_running", true},
                       {"subgraphs", graphs}}});
}

Json execution_stats(double period, double device, double step_seconds) {
  const Json none = {{"generic", 0}, {"numerical", 0}, {"transient", 0}, {"model", 0}, {"runtime", 0}, {"hardware", 0}};
  return {{"period", period},
          {"error_summary", none},
          {"execution_summary",
           {{"completed", std::floor(period / step_seconds)},
            {"completed_with_err", 0},
            {"completed_with_num_err", 0},
            {"timed_out", 0},
            {"incorrect_input", 0},
            {"failed_to_queue", 0}}},
          {"latency_stats", {{"total_latency", percentiles(step_seconds)}, {"device_latency", percentiles(device)}}},
          {"error", ""}};
}

Json runtime_report(const Record& record, const Devices& devices, double period, double step_seconds,
                    const HostLoad& host) {
  const double device = hw::seconds(record.result.total);
  Json cores, memory;
  double used = 0;
  const int count = cores_in_use(record, devices);
  for (int core = 0; core < count; ++core) {
    const std::string id = std::to_string(core);
    cores[id] = {{"neuroncore_utilization", device / step_seconds * 100},
                 {"flops", (record.utilisation.matmul_flops + record.utilisation.transpose_flops) / step_seconds}};
    memory[id] = core_memory(record);
    for (const auto& [name, bytes] : memory[id].items()) used += bytes.get<double>();
  }
  return {
      {"neuroncore_counters", {{"period", period}, {"neuroncores_in_use", cores}, {"error", ""}}},
      {"execution_stats", execution_stats(period, device, step_seconds)},
      {"memory_used",
       {{"period", period},
        {"neuron_runtime_used_bytes",
         {{"host", std::llround(host.bytes)},
          {"neuron_device", used},
          {"usage_breakdown",
           {{"host",
             {{"application_memory", std::llround(host.bytes)}, {"constants", 0}, {"dma_buffers", 0}, {"tensors", 0}}},
            {"neuroncore_memory_usage", memory}}}}},
        {"loaded_models", loaded_models(record, devices)},
        {"error", ""}}},
      {"neuron_runtime_vcpu_usage",
       {{"period", period},
        {"vcpu_usage", {{"user", vcpu_percent(record, devices, step_seconds, host)}, {"system", 0.0}}},
        {"error", ""}}}};
}

}  // namespace

std::vector<int> neighbours(const Devices& devices, int chip) {
  const int row = chip / devices.columns, column = chip % devices.columns;
  const auto at = [&](int r, int c) {
    return (r + devices.rows) % devices.rows * devices.columns + (c + devices.columns) % devices.columns;
  };
  std::set<int> chips = {at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)};
  chips.erase(chip);
  return {chips.begin(), chips.end()};
}

std::string ls_table(const Devices& devices, const Processes& processes, bool wide) {
  constexpr std::size_t kShown = 40;  // letters of a command line
  std::string command = processes.command;
  if (!wide && command.size() > kShown) command = command.substr(0, kShown - 3) + "...";
  std::vector<Cells> rows, head = {{"NEURON", "NEURON", "NEURON", "NEURON", "CONNECTED", "PCI", "CPU", "NUMA"},
                                   {"DEVICE", "CORES", "CORE IDS", "MEMORY", "DEVICES", "BDF", "AFFINITY", "NODE"}};
  if (processes.cores > 0)
    head[0].insert(head[0].end(), {"PID", "COMMAND", "RUNTIME"}), head[1].insert(head[1].end(), {"", "", "VERSION"});
  for (int chip = 0; chip < devices.chips; ++chip) {
    const auto cores = core_ids(devices, chip);
    rows.push_back({std::to_string(chip), std::to_string(devices.cores_per_chip),
                    fmt::format("{}-{}", cores.front(), cores.back()), memory_text(devices.memory),
                    fmt::format("{}", fmt::join(neighbours(devices, chip), ", ")), "-", "-", "-"});
    if (processes.cores == 0) continue;
    const std::size_t first = rows.size() - 1;
    for (const int core : cores) {
      if (core >= processes.cores) break;
      if (core > cores.front()) rows.emplace_back(8, "");
      rows.back().insert(rows.back().end(), {std::to_string(core), command, processes.runtime});
    }
    rows[first].resize(head[0].size());
  }
  return fmt::format("instance-type: {}\ninstance-id: simulated\n", devices.instance_type) + framed(head, rows);
}

std::string ls_topology(const Devices& devices) {
  if (devices.rows * devices.columns < 2) return "Neuron Device Topology\n  [ 0 ]  no links between devices\n";
  std::string out = fmt::format("Neuron Device Topology: a torus of {} x {}; the ends of a line are joined\n",
                                devices.rows, devices.columns);
  for (int r = 0; r < devices.rows; ++r) {
    std::string chips, links;
    for (int c = 0; c < devices.columns; ++c) {
      chips += fmt::format("{}[{:^4}]", c > 0 ? "--" : "  ", r * devices.columns + c);
      links += "     |  ";
    }
    out += chips + "\n" + (r + 1 < devices.rows ? links + "\n" : "");
  }
  return out;
}

Json ls_json(const Devices& devices, const Processes& processes) {
  Json list = Json::array();
  for (int chip = 0; chip < devices.chips; ++chip) {
    Json own = Json::array();
    for (const int core : core_ids(devices, chip))
      if (core < processes.cores)
        own.push_back({{"pid", core}, {"command", processes.command}, {"neuron_runtime_version", processes.runtime}});
    list.push_back({{"neuron_device", chip},
                    {"connected_to", neighbours(devices, chip)},
                    {"nc_count", devices.cores_per_chip},
                    {"neuroncore_ids", core_ids(devices, chip)},
                    {"memory_size", static_cast<std::int64_t>(devices.memory)},
                    {"neuron_processes", own}});
  }
  return list;
}

Json monitor_report(const Record& record, const Devices& devices, double period, double step_seconds,
                    const HostLoad& host) {
  if (!(period > 0) || !(step_seconds > 0)) {
    throw base::Error{base::Fault::kUsage, "monitor", "the period or the step is not above 0",
                      "give `period`, as in 5s"};
  }
  const double step = std::max(step_seconds, hw::seconds(record.result.total));
  // A simulation has neither a place nor a network: fields that its exporters index are present, and empty.
  const Json instance = {{"instance_name", "trnsim"},
                         {"instance_id", "simulated"},
                         {"instance_type", devices.instance_type},
                         {"instance_availability_zone", ""},
                         {"instance_availability_zone_id", ""},
                         {"instance_region", ""},
                         {"ami_id", ""},
                         {"subnet_id", ""},
                         {"error", ""}};
  return {{"neuron_runtime_data",
           {{{"pid", 0},
             {"address", ""},
             {"neuron_runtime_tag", record.info.workload},
             {"error", ""},
             {"report", runtime_report(record, devices, period, step, host)}}}},
          {"system_data", system_data(devices, period, vcpu_percent(record, devices, step, host), host)},
          {"instance_info", instance},
          {"neuron_hardware_info",
           {{"neuron_device_type",
             devices.generation == 2 ? "trainium" : fmt::format("trainium{}", devices.generation - 1)},
            {"neuron_device_version", fmt::format("v{}", devices.generation)},
            {"neuroncore_version", fmt::format("v{}", devices.generation)},
            {"neuron_device_count", devices.chips},
            {"neuron_device_memory_size", static_cast<std::int64_t>(devices.memory)},
            {"neuroncore_per_device_count", devices.cores_per_chip},
            {"logical_neuroncore_config", 1},
            {"error", ""}}}};
}

std::string top_frame(const Record& record, double from, double until, int width) {
  const hw::SimResult& r = record.result;
  if (!(until > from))
    throw base::Error{base::Fault::kUsage, "top", "the window holds no time", "give an end after the beginning"};
  std::array<double, isa::kEngineCount> busy{};
  double dma = 0, bytes = 0, collective = 0;
  std::size_t current = r.calls.size();
  for (std::size_t c = 0; c < r.calls.size(); ++c) {
    const hw::CallTime& call = r.calls[c];
    const double length = hw::seconds(call.end - call.begin), inside = overlap(from, until, call.begin, call.end);
    if (!(inside > 0)) continue;
    current = c;
    for (int e = 0; e < isa::kEngineCount; ++e) busy[e] += inside * hw::seconds(call.engines[e].busy) / length;
    dma += inside / length * call.dma.engine_busy * 1e-15 / std::max(r.peaks.dma_engines, 1.0);
    bytes += inside * static_cast<double>(call.dma.read_bytes + call.dma.written_bytes) / length;
  }
  for (const hw::CollectiveTime& c : r.collectives) collective += overlap(from, until, c.begin, c.end);
  const double window = until - from;
  std::string out = fmt::format("trnsim top  {} on {}  {} of {}\n", record.info.workload, record.info.instance_type,
                                readable(until, "s"), readable(hw::seconds(r.total), "s"));
  const bool running = current < r.calls.size();
  out += running ? fmt::format("core {}: {} {}\n", r.rank, isa::name_of(r.calls[current].phase),
                               record.program.blocks[r.calls[current].block].name)
                 : fmt::format("core {}: between calls\n", r.rank);
  for (int e = 0; e < isa::kEngineCount; ++e)
    out += bar_line(isa::name_of(static_cast<isa::Engine>(e)), busy[e] / window, width);
  out += bar_line("dma", dma / window, width) + bar_line("collectives", collective / window, width);
  out += bar_line("hbm bandwidth", r.peaks.hbm_bandwidth > 0 ? bytes / window / r.peaks.hbm_bandwidth : 0, width);
  const MemoryUse memory = memory_use(record);
  const auto capacity = static_cast<double>(record.info.hbm_bytes_per_core);
  if (!running || capacity <= 0) return out;
  out += bar_line("hbm used", memory.peak / capacity, width);
  for (std::size_t k = 0; k < memory.kinds.size(); ++k)
    out += fmt::format("  {:<14}{:>12}\n", memory.kinds[k], readable(memory.bytes[k][memory.peak_call], "B"));
  return out;
}

std::string top_host(const Record& record, const Devices& devices, double step_seconds, const HostLoad& host,
                     int width) {
  const double step = std::max(step_seconds, hw::seconds(record.result.total));
  std::string out = bar_line("vCPU usage", vcpu_percent(record, devices, step, host) / 100, width);
  if (devices.host_memory > 0) out += bar_line("host memory", host.bytes / devices.host_memory, width);
  out += fmt::format("{}\n", record.program.name.substr(0, static_cast<std::size_t>(width)));
  const double share = step > 0 ? hw::seconds(record.result.total) / step : 0;
  for (int core = 0; core < std::min(cores_in_use(record, devices), 8); ++core)
    out += bar_line(fmt::format("  ND{} NC{}", core / devices.cores_per_chip, core), share, width);
  const int more = cores_in_use(record, devices) - 8;
  return out + (more > 0 ? fmt::format("  and {} more cores\n", more) : "");
}

}  // namespace analysis
