// Rows of kinds "gemm", "memory", "kernel" and "instruction": the program that the row describes, on the simulated
// machine. Rows are read by their words and sizes; what is not understood is skipped with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <variant>

#include "base/error.h"
#include "cli/predict_row.h"
#include "hw/sim_device.h"
#include "isa/names.h"
#include "runtime/compile.h"
#include "workloads/block_graph.h"
#include "workloads/micro.h"

namespace cli {
namespace {

using analysis::Prediction;
using analysis::Row;
using analysis::Shape;

/// A row's text, taken apart.
struct Job {
  const Row& row;
  const PredictContext& context;
  std::string what;  // small letters
  Shape shape;
  isa::Dtype dtype = isa::Dtype::kFp32;
  int cores = 1;
  std::vector<std::string> assumed{};

  bool says(std::string_view word) const { return what.find(word) != std::string::npos; }
  std::optional<std::int64_t> named(std::string_view name) const {
    for (const auto& [key, value] : shape.named)
      if (std::ranges::equal(key, name, {}, [](char c) { return std::tolower(static_cast<unsigned char>(c)); }))
        return static_cast<std::int64_t>(value);
    return std::nullopt;
  }
  std::int64_t size(std::size_t i) const { return static_cast<std::int64_t>(shape.sizes.at(i)); }
  bool has_sizes(std::size_t count) const {
    return shape.sizes.size() == count && std::ranges::all_of(shape.sizes, [](double v) { return v >= 1; });
  }
};

/// What to run, and what the metric needs to know of it.
struct Plan {
  isa::Program program;
  double flops = 0, bytes = 0;
};
using Planned = std::variant<Plan, std::string>;  // or why there is none

hw::MachineParams machine_of(Job& job) {
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

Prediction answer(Job& job, const hw::SimResult& result, double seconds, const Plan& plan) {
  return in_row_metric(
      job.row,
      {.seconds = seconds, .samples = {}, .tokens = {}, .flops = plan.flops, .bytes = plan.bytes, .job_seconds = {}},
      std::move(job.assumed), parts(result), work_of(result, seconds / hw::seconds(result.total)));
}

// ---- matmuls

Planned plan_gemm(Job& job) {
  workloads::Gemm gemm{.dtype = job.dtype};
  const auto m = job.named("m"), k = job.named("k"), n = job.named("n");
  if (m && k && n) {
    gemm.m = *m, gemm.k = *k, gemm.n = *n;
  } else if (job.has_sizes(3)) {
    gemm.m = job.size(0), gemm.k = job.size(1), gemm.n = job.size(2);
  } else {
    return fmt::format("shape '{}' is neither 1x2x3 nor M1 K2 N3", std::get<analysis::MicroRow>(job.row.job).shape);
  }
  gemm.batch = job.named("b").value_or(job.named("batch").value_or(1));
  if (isa::is_integer(job.dtype)) return std::string{"TensorE multiplies no integers"};
  const bool tuned = job.says("nki") && gemm.batch == 1;
  job.assumed.push_back(tuned ? "NKI kernel, left operand given as its transpose" : "compiled, operands as they lie");
  return Plan{.program = tuned ? workloads::tuned_gemm(gemm) : workloads::compiled_gemm(gemm),
              .flops = workloads::flops(gemm),
              .bytes = 0};
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

Planned plan_memory(Job& job) {
  if (!job.shape.bytes || *job.shape.bytes < 1) return std::string{"its shape is no number of bytes"};
  workloads::MemoryTest test{.bytes = static_cast<std::uint64_t>(*job.shape.bytes),
                             .ranks = static_cast<std::uint32_t>(job.cores)};
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
  test.row_bytes = std::min<std::int64_t>(test.row_bytes, 32 * 1024);
  return Plan{.program = workloads::memory_test(test), .flops = 0, .bytes = *job.shape.bytes * job.cores};
}

// ---- kernels

Planned plan_mlp(Job& job) {
  const auto m = job.named("m"), n = job.named("n"), k = job.named("k");
  if (!m || !n || !k) return std::string{"a SwiGLU MLP needs M, N and K"};
  const double products = 3 * 2.0 * static_cast<double>(*m) * static_cast<double>(*n) * static_cast<double>(*k);
  return Plan{.program = workloads::swiglu_kernel(*m, *n, *k, job.dtype), .flops = products, .bytes = 0};
}

Planned plan_adamw(Job& job) {
  if (!job.has_sizes(2)) return std::string{"AdamW needs a shape of rows x columns"};
  job.assumed.push_back("moments written back; weight decay");
  return Plan{.program = workloads::adamw_kernel(job.size(0), job.size(1), job.dtype)};
}

Planned plan_scan(Job& job) {
  workloads::MambaScan scan;
  const auto seq = job.named("seq"), channels = job.named("channels"), states = job.named("state");
  if (!seq || !channels || !states) return std::string{"a scan needs seq, channels and state"};
  scan.seq = *seq, scan.channels = *channels, scan.states = *states;
  for (const int version : {1, 2, 3})
    if (job.says(fmt::format("v{}", version))) scan.version = version;
  return Plan{.program = workloads::mamba_scan(scan)};
}

Planned plan_vector_add(Job& job) {
  static const std::regex kTile{R"((\d+)\s*x\s*(\d+))"};
  std::smatch found;
  if (!job.has_sizes(1) || !std::regex_search(job.what, found, kTile))
    return std::string{"a vector add needs its elements and its tile"};
  const std::int64_t parts = std::stoll(found[1]), cols = std::stoll(found[2]);
  return Plan{.program = workloads::vector_add_kernel(job.size(0), parts, cols, job.dtype)};
}

Planned plan_blocks(Job& job) {
  static const std::regex kCount{R"((\d+)\s+(decoder|encoder|transformer)?\s*blocks?)"};
  std::smatch found;
  const auto hidden = job.named("h"), heads = job.named("heads"), seq = job.named("seq");
  if (!std::regex_search(job.what, found, kCount) || !hidden || !heads || !seq)
    return std::string{"blocks need their number, h, heads and seq"};
  if (!job.says("forward") || !std::ranges::count(job.shape.words, "GELU"))
    return std::string{"only the forward of blocks with a GELU MLP is modelled here"};
  workloads::BlockSpec spec{.layers = std::stoll(found[1]),
                            .hidden = *hidden,
                            .heads = *heads,
                            .ffn = 4 * *hidden,
                            .batch = job.named("b").value_or(1),
                            .seq = *seq,
                            .numerics = {}};
  if (const auto ffn = job.named("ffn"))
    spec.ffn = *ffn;
  else
    job.assumed.push_back("ffn 4 h");
  const std::string type{isa::name_of(job.dtype)};
  spec.numerics = runtime::numerics(type == "bf16" ? "bf16+fp32-softmax" : type);
  spec.causal = job.says("causal") && !job.says("non-causal");
  job.assumed.push_back(fmt::format("numerics {}, {}", spec.numerics.name, spec.causal ? "causal" : "full attention"));
  runtime::CompileOptions options;
  options.name = "blocks";
  return Plan{.program = runtime::compile(workloads::block_graph(spec), options).program,
              .flops = workloads::block_flops(spec),
              .bytes = 0};
}

Planned plan_activation(Job& job, isa::Fn fn) {
  if (!job.has_sizes(2)) return std::string{"an activation needs a shape of rows x columns"};
  return Plan{.program = workloads::activation_kernel(fn, job.size(0), job.size(1), job.dtype)};
}

struct Kernel {
  std::string_view word;
  Planned (*plan)(Job&);
};
constexpr std::array kKernels = {
    Kernel{"adamw", plan_adamw},
    Kernel{"swiglu", plan_mlp},
    Kernel{"mamba", plan_scan},
    Kernel{"vector add", plan_vector_add},
    Kernel{"block", plan_blocks},
    Kernel{"silu", [](Job& job) { return plan_activation(job, isa::Fn::kSilu); }},
    Kernel{"gelu", [](Job& job) { return plan_activation(job, isa::Fn::kGelu); }},
    Kernel{"tanh", [](Job& job) { return plan_activation(job, isa::Fn::kTanh); }},
};

Planned plan_kernel(Job& job) {
  for (const Kernel& kernel : kKernels)
    if (job.says(kernel.word)) return kernel.plan(job);
  if (job.says("matmul") || job.says("gemm")) return plan_gemm(job);
  return fmt::format("kernel '{}' is not modelled", job.what);
}

Prediction predict_whole(Job& job, Planned (*make)(Job&)) {
  const Planned planned = make(job);
  if (const auto* reason = std::get_if<std::string>(&planned)) return Prediction::skip(*reason);
  const Plan& plan = std::get<Plan>(planned);
  const hw::MachineParams machine = machine_of(job);
  hw::SimOptions options;
  options.exact = job.context.exact || job.cores > 1;  // cores that share a chip's memory disturb each other
  const hw::SimResult result = hw::simulate_in_child(plan.program, machine, options);
  return answer(job, result, hw::seconds(result.total), plan);
}

Job read_job(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<analysis::MicroRow>(row.job);
  Job job{.row = row, .context = context, .what = micro.what, .shape = analysis::parse_shape(micro.shape)};
  std::ranges::transform(job.what, job.what.begin(), [](unsigned char c) { return std::tolower(c); });
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

/// The time from one instruction's begin to the next one's.
double interval(const isa::Program& program, const hw::SimResult& result) {
  std::vector<hw::Fs> begins;
  for (const hw::TraceEvent& event : result.events) {
    const isa::Block& block = program.blocks[program.calls[event.call].block];
    const isa::Instr& instr = block.instrs[event.instr];
    if (event.track == hw::TraceEvent::Track::kEngine && block.labels[instr.label] == "stream" &&
        instr.op != isa::Opcode::kWait)
      begins.push_back(event.begin);
  }
  base::ensure(begins.size() > 1, "instruction stream", "it left no trace");
  return hw::seconds(begins.back() - begins.front()) / static_cast<double>(begins.size() - 1);
}

}  // namespace

Prediction predict_gemm(const Row& row, const PredictContext& context) {
  Job job = read_job(row, context);
  return predict_whole(job, plan_gemm);
}

Prediction predict_memory(const Row& row, const PredictContext& context) {
  Job job = read_job(row, context);
  return predict_whole(job, plan_memory);
}

Prediction predict_kernel(const Row& row, const PredictContext& context) {
  Job job = read_job(row, context);
  return predict_whole(job, plan_kernel);
}

Prediction predict_instruction(const Row& row, const PredictContext& context) {
  Job job = read_job(row, context);
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
  const isa::Program program = workloads::instruction_stream(stream);
  hw::SimOptions options;
  options.trace_until = 1;
  const hw::MachineParams machine = machine_of(job);
  const hw::SimResult result = hw::simulate_in_child(program, machine, options);
  job.assumed.push_back(fmt::format("mean of {} {} instructions", stream.count, stream.name));
  return answer(job, result, interval(program, result), {});
}

}  // namespace cli
