#include "hw/run/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "hw/core/clock.h"
#include "hw/core/process.h"

// The library's main() is not used, but its symbol must be there.
int sc_main(int, char**) { return 0; }

namespace hw {
namespace {

/// Time with at least one collective under way.
Fs active_time(const std::vector<CollectiveTime>& records) {
  std::vector<std::pair<Fs, Fs>> spans;
  for (const auto& record : records) spans.emplace_back(record.begin, record.end);
  std::ranges::sort(spans);
  Fs active = 0, until = 0;
  for (const auto& [begin, end] : spans) {
    if (end > until) active += end - std::max(begin, until);
    until = std::max(until, end);
  }
  return active;
}

/// SystemC's kernel, one per process, and the machine on it: the only mutable state of the library that outlives a
/// call. A simulation in this process holds `turn`.
struct Kernel {
  std::mutex turn;
  std::exception_ptr error;  // of the running simulation
  std::unique_ptr<Machine> machine;
  bool in_first_context = true;
};

/// Never destroyed: other objects of the process may end later.
Kernel& kernel() {
  static Kernel& the_kernel = *new Kernel;
  return the_kernel;
}

/// SystemC elaborates once per simulation context, and refuses to continue after an error: another machine needs
/// another context. The old one has no live objects left, except that an event of the library itself lives in the first
/// one.
void begin_another_context() {
  if (!std::exchange(kernel().in_first_context, false)) delete sc_core::sc_curr_simcontext;
  sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
}

/// A machine that has run for so long is not used again: its clock ends at 18,446 s, and a step may take some
/// thousands.
constexpr Fs kLatest = 1'000'000'000'000'000'000;

/// Checks bounds that no program can beat: a violation is a bug in the simulator.
void check_bounds(const SimResult& result, const MachineParams& machine) {
  const double total = seconds(result.total), slack = 1 + 1e-9;
  const auto holds = [&](double least, std::string_view what) {
    base::ensure(least <= total * slack, "lower bound",
                 fmt::format("{} takes at least {:.9g} s, but the run took {:.9g} s", what, least, total));
  };
  const Peaks& peaks = result.peaks;
  holds(result.matmul_flops / peaks.matmul_flops, "the matmul work at TensorE's peak");
  holds(static_cast<double>(result.dma.read_bytes + result.dma.written_bytes) / peaks.hbm_bandwidth,
        "the HBM traffic at the peak of the core's part");
  holds(result.dma.engine_busy * 1e-15 / machine.dma_engines.value, "the work of the DMA engines");
  double sent = 0;
  for (const auto& collective : result.collectives) sent += static_cast<double>(collective.link_bytes);
  holds(sent / peaks.link_bandwidth, "what the core sends to others");
  for (const EngineTime& engine : result.engines)
    base::ensure(engine.total() == result.total, "accounting", "an engine's parts do not add up to the run");
}

}  // namespace

std::unique_lock<std::mutex> hold_kernel() { return std::unique_lock{kernel().turn}; }

std::exception_ptr& process_error() { return kernel().error; }

void require_memory(const isa::Program& program, const MachineParams& machine) {
  if (program.hbm_bytes > machine.hbm_bytes_per_core())
    throw base::Error{base::Fault::kCapacity, program.name,
                      fmt::format("needs {:.2f} GiB of HBM per core, but {} has {:.2f} GiB",
                                  static_cast<double>(program.hbm_bytes) / (1 << 30), machine.name,
                                  static_cast<double>(machine.hbm_bytes_per_core()) / (1 << 30)),
                      "use a smaller batch, recomputation or more cores"};
}

TimedProgram time_program(const isa::Program& program, const MachineParams& machine, BlockTimes& times) {
  TimedProgram timed{.program = &program, .blocks = {}};
  for (const isa::Block& block : program.blocks) timed.blocks.push_back(times.get(block, machine));
  for (const isa::Call& call : program.calls) {
    if (call.block >= program.blocks.size())
      throw base::Error{base::Fault::kProgram, program.name, fmt::format("a call names block {}", call.block),
                        "call one of the program's blocks"};
  }
  return timed;
}

Machine::Machine(sc_core::sc_module_name name, const MachineParams& params, const Ranks& ranks)
    : sc_module{name},
      params_{params},
      ranks_{ranks},
      planner_{params_},
      fabric_{"fabric", planner_.topology(),
              ranks.back() / static_cast<std::uint32_t>(params_.ranks_per_instance()) + 1},
      collectives_{planner_,
                   fabric_,
                   {.known = [this](const CcCores::Done& done) { core(done.rank).collective_known(done); },
                    .runs =
                        [this](const auto& members, Fs begin, Fs end) {
                          if (observer_) observer_->collective(members, begin, end);
                        }}} {
  for (const std::uint32_t rank : ranks_)
    cores_.push_back(
        std::make_unique<Core>(fmt::format("core{}", rank).c_str(), rank, params_, collectives_, meetings_));
}

Core& Machine::core(std::uint32_t rank) {
  return *cores_[static_cast<std::size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin())];
}

Machine& Machine::instance(const MachineParams& params, const Ranks& ranks) {
  std::unique_ptr<Machine>& machine = kernel().machine;
  const bool late = time_now() > kLatest;
  if (machine && machine->params_.hash == params.hash && machine->ranks_ == ranks && !machine->broken_ && !late)
    return *machine;
  if (machine) {
    machine.reset();
    begin_another_context();
  }
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  machine = std::make_unique<Machine>("machine", params, ranks);
  return *machine;
}

std::vector<SimResult> Machine::run(const std::vector<TimedProgram>& programs, const SimOptions& options,
                                    Observer* observer) {
  const Fs origin = time_now();
  observer_ = observer;
  std::vector<bool> simulated(programs.front().program->ranks, false);
  for (const std::uint32_t rank : ranks_) simulated.at(rank) = true;
  isa::Programs plain;
  for (const TimedProgram& timed : programs) plain.push_back(timed.program);
  collectives_.reset(plain, simulated);
  meetings_.reset(std::move(simulated));
  const Core::Options core_options{
      .replay = !options.exact && !options.execute,
      .trace = {.from = origin + fs_of(options.trace_from),
                .until = options.trace_until > options.trace_from ? origin + fs_of(options.trace_until) : 0,
                .layer = options.trace_layer,
                .limit = options.trace_limit},
      .observer = observer};
  for (const TimedProgram& timed : programs)
    for (auto& core : cores_)
      if (timed.program->runs_on(core->rank())) core->start(timed, core_options, origin + fs_of(params_.lead_in.value));
  process_error() = nullptr;
  broken_ = true;  // until this run has come to its end
  try {
    sc_core::sc_start();
  } catch (...) {
    if (process_error()) std::rethrow_exception(process_error());
    throw;
  }
  if (!std::ranges::all_of(cores_, [](const auto& core) { return core->finished(); }))
    report_deadlock(*programs.front().program);
  broken_ = false;
  std::vector<SimResult> results = collect(plain, options, origin);
  for (const SimResult& result : results) check_bounds(result, params_);
  fabric_.check_bounds(*std::ranges::max_element(results.front().rank_total));
  return results;
}

void Machine::report_deadlock(const isa::Program& program) const {
  std::string text = "deadlock: nothing can move any more\n";
  for (const auto& core : cores_) text += core->stuck();
  text += collectives_.stuck();
  while (text.ends_with('\n')) text.pop_back();
  throw base::Error{base::Fault::kProgram, program.name, text,
                    "raise the semaphore (signal = true) in an instruction that comes before the wait"};
}

SimResult Machine::slowest_of(const isa::Program& program, Fs origin) const {
  SimResult result;
  bool found = false;
  std::vector<TraceEvent> events;
  std::uint64_t dropped = 0;
  for (const auto& core : cores_) {
    if (!program.runs_on(core->rank())) continue;
    SimResult one;
    core->report(one, origin);
    events.insert(events.end(), one.events.begin(), one.events.end());
    dropped += one.dropped_events;
    if (!std::exchange(found, true) || one.total > result.total) result = std::move(one);
  }
  result.events = std::move(events);
  result.dropped_events = dropped;
  for (CollectiveTime record : collectives_.records(result.rank)) {
    record.issued -= origin;
    record.begin -= origin;
    record.end -= origin;
    result.collectives.push_back(record);
  }
  result.collective_active = active_time(result.collectives);
  for (const EngineTime& engine : result.engines)
    result.collective_exposed =
        std::max(result.collective_exposed, engine.waiting[static_cast<int>(Hold::kCollective)]);
  return result;
}

std::vector<SimResult> Machine::collect(const isa::Programs& programs, const SimOptions& options, Fs origin) const {
  std::vector<Fs> totals;
  std::uint64_t instructions = 0;
  for (const auto& core : cores_) {
    totals.push_back(core->total(origin));
    instructions += core->simulated();
  }
  std::vector<SimResult> results;
  for (const isa::Program* program : programs) {
    SimResult result = slowest_of(*program, origin);
    result.rank_total = totals;
    result.instructions = instructions;
    result.cores = static_cast<std::uint32_t>(cores_.size());
    result.exact = options.exact || options.execute;
    result.peaks = params_.peaks();
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace hw
