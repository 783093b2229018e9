// `trnsim ls`, `trnsim monitor`, `trnsim top`: the simulated instance in the forms of the Neuron tools.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "analysis/neuron_tools/device_view.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/job/devices.h"
#include "trnsim/machine.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct LsOptions {
  std::string machine = "trn1.2xlarge";
  bool topology = false, json = false, wide = false, all = false;
};

/// `all` adds nothing: in a simulation the devices have no other users.
void ls(const LsOptions& options) {
  const bool is_run = std::filesystem::is_directory(options.machine);
  const trnsim::RunDevices run =
      is_run ? trnsim::devices_of_run(options.machine)
             : trnsim::RunDevices{trnsim::devices_of(trnsim::load_machine(options.machine)), {}};
  const auto& [devices, processes] = run;
  if (options.json) return print(ls_json(devices, processes).dump(2) + "\n");
  print(options.topology ? ls_topology(devices) : ls_table(devices, processes, options.wide));
}

struct MonitorOptions {
  std::string run, period = "5s";
  std::int64_t stage = -1;
  int count = 1;
};

void monitor(const MonitorOptions& options) {
  const double period = base::parse_as(options.period, base::Dimension::kTime, "--period");
  const std::string report = trnsim::monitor_run(options.run, options.stage, period).dump() + "\n";
  for (int i = 0; i < options.count; ++i) print(report);
}

struct TopOptions {
  std::string run;
  std::int64_t stage = -1;
  double seconds = 10;  // of wall time for the whole step
  bool once = false;
};

constexpr double kFramesPerSecond = 10;

int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// A frame in the place of the last one: to clear all of the screen each time would flicker.
std::string drawn_over(const std::string& frame) {
  std::string out = "\x1b[H";
  for (const char c : frame) out += c == '\n' ? "\x1b[K\n" : std::string{c};
  return out + "\x1b[J";
}

void top(const TopOptions& options) {
  const analysis::Record record = analysis::read_record(options.run, options.stage);
  const double total = hw::seconds(record.result.total);
  if (!(total > 0)) throw Error{Fault::kData, options.run, "the step takes no time", "run the job again"};
  if (options.once || ::isatty(STDOUT_FILENO) == 0)
    return print(top_frame(record, 0, total, 80) + trnsim::top_host(options.run, record, 80));
  const int frames = std::max(1, static_cast<int>(std::lround(options.seconds * kFramesPerSecond)));
  const std::string host = trnsim::top_host(options.run, record, terminal_width());
  print("\x1b[2J");
  for (int f = 0; f < frames; ++f) {
    const double from = total * f / frames;
    print(drawn_over(top_frame(record, from, total * (f + 1) / frames, terminal_width()) + host));
    flush();
    std::this_thread::sleep_for(std::chrono::duration<double>{1 / kFramesPerSecond});
  }
}

}  // namespace

void add_ls(CLI::App& app) {
  auto options = std::make_shared<LsOptions>();
  app.add_option("MACHINE", options->machine, "machine or file (trnsim list machines), or the folder of a run")
      ->capture_default_str();
  app.add_flag("-a,--show-all-procs", options->all,
               "show all processes: only those of the run, as no other uses the devices");
  app.add_flag("-w,--wide", options->wide, "print whole command lines");
  app.add_flag("-t,--topology", options->topology, "print how the devices are linked");
  app.add_flag("-j,--json-output", options->json, "as JSON");
  app.final_callback([options] { ls(*options); });
}

void add_monitor(CLI::App& app) {
  auto options = std::make_shared<MonitorOptions>();
  app.add_option("RUN", options->run, "folder of a run")->required();
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0 [the slowest]")->check(CLI::NonNegativeNumber);
  app.add_option("--period", options->period, "simulated time of a report")->capture_default_str();
  app.add_option("--count", options->count, "reports, one JSON object a line")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.final_callback([options] { monitor(*options); });
}

void add_top(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  app.add_option("RUN", options->run, "folder of a run")->required();
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0 [the slowest]")->check(CLI::NonNegativeNumber);
  app.add_option("--seconds", options->seconds, "wall time that the replay of the step takes")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  app.add_flag("--once", options->once, "print one frame for the whole step; always so when stdout is not a terminal");
  app.final_callback([options] { top(*options); });
}

}  // namespace cli
