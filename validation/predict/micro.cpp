// Rows of kinds "gemm", "memory", "kernel" and "instruction": the program that the row describes, on the simulated
// machine. Rows are read by their words and sizes; what is not understood is skipped with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "hw/sim_device.h"
#include "isa/names.h"
#include "validation/kernels/micro.h"
#include "validation/predict/micro_row.h"

namespace trnsim {
namespace {

using analysis::Prediction;
using analysis::Row;

hw::MachineParams machine_of(MicroJob& job) {
  return machine_of(std::get<analysis::MicroRow>(job.row.job).instance, job.context, job.assumed);
}

/// Where the time went: the busiest engine's own account, or the DMA engines' when they moved longer than it ran.
std::vector<analysis::TimePart> parts(const hw::SimResult& result) {
  const auto total = static_cast<double>(result.total);
  const auto share = [&](hw::Fs time) { return static_cast<double>(time) / total; };
  const auto busiest = std::ranges::max_element(result.engines, {}, &hw::EngineTime::busy);
  if (result.dma.active > busiest->busy)
    return {{"DMA", share(result.dma.active)}, {"no transfer", 1 - share(result.dma.active)}};
  const auto engine = static_cast<isa::Engine>(busiest - result.engines.begin());
  std::vector<analysis::TimePart> out{{std::string{isa::name_of(engine)}, share(busiest->busy)}};
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
  analysis::Measured measured{.seconds = seconds};
  if (plan.flops > 0) measured.flops = plan.flops * cores;
  measured.bytes = plan.bytes > 0 ? plan.bytes * cores : traffic;
  measured.clock = clock;
  return in_row_metric(job.row, measured, std::move(job.assumed), parts(result),
                       work_of(result, seconds / hw::seconds(result.total)));
}

// ---- memory

/// "in 1 KiB rows", "in 512 B descriptors".
std::optional<std::int64_t> row_bytes(const std::string& what) {
  static const std::regex kRows{R"((\d+)\s*(b|kib|kb|mib)\s*(-\s*)?(rows?|descriptors?|pieces?|chunks?))"};
  std::smatch found;
  if (!std::regex_search(what, found, kRows)) return std::nullopt;
  const std::string unit = found[2];
  const std::int64_t factor = unit == "b" ? 1 : unit == "kb" ? 1000 : unit == "kib" ? 1024 : 1024 * 1024;
  return std::stoll(found[1]) * factor;
}

MicroPlanned plan_memory(MicroJob& job) {
  if (!job.shape.bytes || *job.shape.bytes < 1) return std::string{"its shape is no number of bytes"};
  workloads::MemoryTest test{.bytes = static_cast<std::uint64_t>(*job.shape.bytes)};
  if (job.says("sbuf") || job.says("psum")) return std::string{"traffic inside of the chip is not modelled alone"};
  if (job.says("copy"))
    test.traffic = workloads::Traffic::kCopy;
  else if (job.says("write"))
    test.traffic = workloads::Traffic::kWrite;
  else if (!job.says("read"))
    return std::string{"says neither read, write nor copy"};
  if (const auto row = row_bytes(job.what))
    test.row_bytes = *row;
  else
    job.assumed.push_back(fmt::format("rows of {} KiB", test.row_bytes / 1024));
  test.row_bytes = std::min(test.row_bytes, std::int64_t{32} * 1024);
  return MicroPlan{.program = workloads::memory_test(test, job.target()), .flops = 0, .bytes = *job.shape.bytes};
}

Prediction predict_whole(MicroJob& job, MicroPlanned (*make)(MicroJob&)) {
  MicroPlanned planned = make(job);
  if (const auto* reason = std::get_if<std::string>(&planned)) return Prediction::skip(*reason);
  MicroPlan& plan = std::get<MicroPlan>(planned);
  plan.program.ranks = static_cast<std::uint32_t>(job.cores);
  if (job.cores > 1) job.assumed.push_back("each core does all of it; rates are of all cores");
  const hw::MachineParams machine = machine_of(job);
  hw::SimOptions options;
  options.exact = job.context.exact || job.cores > 1;  // cores that share a chip's memory disturb each other
  const hw::SimResult result = hw::simulate_in_child(plan.program, machine, options);
  return answer(job, result, hw::seconds(result.total), plan);
}

MicroJob read_job(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<analysis::MicroRow>(row.job);
  MicroJob job{
      .row = row, .context = context, .what = base::lower(micro.what), .shape = analysis::parse_shape(micro.shape)};
  job.cores = micro.cores.value_or(1);
  if (!micro.cores) job.assumed.push_back("1 core");
  if (const auto dtype = isa::dtype_from(micro.dtype))
    job.dtype = *dtype;
  else
    job.assumed.push_back("fp32");
  return job;
}

// ---- instructions

struct Alias {
  std::string_view word, name;
};
constexpr std::array kAliases = {Alias{"activat", "activation"},
                                 Alias{"scan", "tensor_tensor_scan"},
                                 Alias{"tensor_tensor", "tensor_tensor"},
                                 Alias{"tensor_scalar", "tensor_scalar"},
                                 Alias{"tensor_reduce", "tensor_reduce"},
                                 Alias{"tensor_copy", "tensor_copy"},
                                 Alias{"reciprocal", "reciprocal"},
                                 Alias{"memset", "memset"},
                                 Alias{"iota", "iota"},
                                 Alias{"matmul", "matmul"}};

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
  base::ensure(begins.size() > 1, "instruction stream", "it left no trace");
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
  MicroJob job = read_job(row, context);
  return predict_whole(job, plan_kernel);
}

Prediction predict_instruction(const Row& row, const PredictContext& context) {
  MicroJob job = read_job(row, context);
  if (auto profiled = predict_profiled(job)) return *std::move(profiled);
  const auto alias = std::ranges::find_if(kAliases, [&](const Alias& a) { return job.says(a.word); });
  if (alias == kAliases.end())
    return Prediction::skip(fmt::format("names none of the instructions {}", workloads::stream_names()));
  workloads::Stream stream{.name = std::string{alias->name}, .dtype = job.dtype, .dependent = job.says("dependent")};
  if (job.says("independent")) stream.dependent = false;
  if (job.has_sizes(2))
    stream.parts = job.size(0), stream.cols = job.size(1);
  else if (job.has_sizes(1))
    stream.cols = job.size(0);
  else
    return Prediction::skip("its shape is neither a number of elements nor partitions x columns");
  const isa::Program program = workloads::instruction_stream(stream, job.target());
  hw::SimOptions options;
  options.trace_until = 1;
  const hw::MachineParams machine = machine_of(job);
  const hw::SimResult result = hw::simulate_in_child(program, machine, options);
  job.assumed.push_back(fmt::format("mean of {} {} instructions", stream.count, stream.name));
  const Interval each = interval(program, result);
  return answer(job, result, each.seconds, {}, machine.clock(each.engine));
}

}  // namespace trnsim
