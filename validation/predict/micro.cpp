// Rows of kinds "gemm", "memory", "kernel" and "instruction": the program that the row describes, on the simulated
// machine. Unknown rows are skipped with a reason.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/error.h"
#include "hw/sim_device.h"
#include "isa/names.h"
#include "validation/kernels/micro.h"
#include "validation/predict/micro_row.h"

namespace validation {
namespace {

hw::MachineParams machine_of(MicroJob& job) {
  return machine_of(std::get<MicroRow>(job.row.job).instance, on_physical_cores(job.context), job.assumed);
}

/// Where the time went: the busiest engine's own account, or the DMA engines' when they moved longer than it ran.
std::vector<TimePart> parts(const hw::SimResult& result) {
  const auto total = static_cast<double>(result.total);
  const auto share = [&](hw::Fs time) { return static_cast<double>(time) / total; };
  const auto busiest = std::ranges::max_element(result.engines, {}, &hw::EngineTime::busy);
  if (result.dma.active > busiest->busy)
    return {{"DMA", share(result.dma.active)}, {"no transfer", 1 - share(result.dma.active)}};
  const auto engine = static_cast<isa::Engine>(busiest - result.engines.begin());
  std::vector<TimePart> out{{std::string{isa::name_of(engine)}, share(busiest->busy)}};
  for (std::size_t h = 0; h < hw::kHoldCount; ++h)
    if (busiest->waiting[h] > 0) out.push_back({hw::kHoldNames[h], share(busiest->waiting[h])});
  out.push_back({"idle", share(busiest->idle)});
  return out;
}

/// `clock`: Hz of the engine that a row in cycles is about.
Prediction answer(MicroJob& job, const hw::SimResult& result, double seconds, const MicroPlan& plan,
                  std::optional<double> clock = {}) {
  const double cores = job.cores;
  const double traffic = static_cast<double>(result.dma.read_bytes + result.dma.written_bytes);
  Measured measured{.seconds = seconds};
  if (plan.flops > 0) measured.flops = plan.flops * cores;
  measured.bytes = plan.bytes > 0 ? plan.bytes * cores : traffic;
  measured.clock = clock;
  return in_row_metric(job.row, measured, std::move(job.assumed), parts(result),
                       work_of(result, seconds / hw::seconds(result.total)));
}

// ---- memory

struct Moves {
  std::string_view name;
  Traffic traffic;
};
constexpr std::array kTraffic = {Moves{"read", Traffic::kRead}, Moves{"write", Traffic::kWrite},
                                 Moves{"copy", Traffic::kCopy}};

MicroPlanned plan_memory(MicroJob& job) {
  if (!job.shape.bytes || *job.shape.bytes < 1) return std::string{"its shape is not a number of bytes"};
  MemoryTest test{.bytes = static_cast<std::uint64_t>(*job.shape.bytes)};
  const auto* traffic = std::ranges::find(kTraffic, job.kernel.name, &Moves::name);
  if (traffic == kTraffic.end() || !job.kernel.unknown("row").empty())
    return job.unknown("it is neither read, write nor copy, with or without row=BYTES");
  test.traffic = traffic->traffic;
  if (const auto row = job.kernel.number("row"))
    test.row_bytes = *row;
  else
    job.assumed.push_back(fmt::format("rows of {} KiB", test.row_bytes / 1024));
  test.row_bytes = std::min(test.row_bytes, std::int64_t{32} * 1024);
  return MicroPlan{.program = memory_test(test, job.target()), .flops = 0, .bytes = *job.shape.bytes};
}

Prediction predict_whole(MicroJob& job, MicroPlanned (*make)(MicroJob&)) {
  MicroPlanned planned = make(job);
  if (const auto* reason = std::get_if<std::string>(&planned)) return Prediction::skip(*reason);
  MicroPlan& plan = std::get<MicroPlan>(planned);
  plan.program.ranks = static_cast<std::uint32_t>(job.cores);
  if (job.cores > 1) job.assumed.push_back("each core does all of the work; rates are sums over cores");
  const hw::MachineParams machine = machine_of(job);
  hw::SimOptions options;
  options.exact = job.context.exact || job.cores > 1;  // cores that share a chip's memory disturb each other
  const hw::SimResult result = hw::simulate_in_child(plan.program, machine, options);
  return answer(job, result, hw::seconds(result.total), plan);
}

MicroJob read_job(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  MicroJob job{.row = row, .context = context, .kernel = micro.kernel, .shape = parse_shape(micro.shape)};
  job.cores = micro.cores.value_or(1);
  if (!micro.cores) job.assumed.push_back("1 core");
  if (const auto dtype = isa::dtype_from(micro.dtype))
    job.dtype = *dtype;
  else
    job.assumed.push_back("fp32");
  return job;
}

// ---- instructions

struct Interval {
  double seconds = 0;  // from one instruction's begin to the next one's
  isa::Engine engine = isa::Engine::kVector;
};
Interval interval(const isa::Program& program, const hw::SimResult& result) {
  std::vector<hw::Fs> begins;
  isa::Engine engine = isa::Engine::kVector;
  for (const hw::TraceEvent& event : result.events) {
    const isa::Block& block = program.blocks[program.calls[event.call].block];
    const isa::Instr& instr = block.instrs[event.instr];
    if (event.track == hw::TraceEvent::Track::kEngine && block.labels[instr.label] == "stream" &&
        instr.op != isa::Opcode::kWait)
      begins.push_back(event.begin), engine = instr.engine;
  }
  base::ensure(begins.size() > 1, "instruction stream", "it was not recorded in the trace");
  return {hw::seconds(begins.back() - begins.front()) / static_cast<double>(begins.size() - 1), engine};
}

}  // namespace

Prediction predict_gemm(const Row& row, const PredictContext& context) {
  MicroJob job = read_job(row, context);
  return predict_whole(job, plan_gemm);
}

Prediction predict_memory(const Row& row, const PredictContext& context) {
  MicroJob job = read_job(row, context);
  return predict_whole(job, plan_memory);
}

Prediction predict_kernel(const Row& row, const PredictContext& context) {
  if (std::get<MicroRow>(row.job).kernel.text("script") != "") return predict_nki(row, context);
  MicroJob job = read_job(row, context);
  return predict_whole(job, plan_kernel);
}

Prediction predict_instruction(const Row& row, const PredictContext& context) {
  MicroJob job = read_job(row, context);
  if (auto profiled = predict_profiled(job)) return *std::move(profiled);
  if (job.kernel.name != "stream" || !job.kernel.unknown("op dependent").empty())
    return Prediction::skip(
        job.unknown(fmt::format("it is neither a figure of a profile nor a stream of {}", stream_names())));
  Stream stream{.name = job.kernel.text("op"), .dtype = job.dtype, .dependent = job.kernel.has("dependent")};
  if (job.has_sizes(2))
    stream.parts = job.size(0), stream.cols = job.size(1);
  else if (job.has_sizes(1))
    stream.cols = job.size(0);
  else
    return Prediction::skip("its shape is neither a number of elements nor partitions x columns");
  const isa::Program program = instruction_stream(stream, job.target());
  hw::SimOptions options;
  options.trace_until = 1;
  const hw::MachineParams machine = machine_of(job);
  const hw::SimResult result = hw::simulate_in_child(program, machine, options);
  job.assumed.push_back(fmt::format("mean of {} {} instructions", stream.count, stream.name));
  const Interval each = interval(program, result);
  return answer(job, result, each.seconds, {}, machine.clock(each.engine));
}

}  // namespace validation
