// Rows of kind "instruction" that a profile printed: durations of single instructions and DMA descriptors, and the gaps
// between them. Each runs as a small program; the profile's view of it is read from the trace.

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "hw/sim_device.h"
#include "isa/names.h"
#include "isa/target.h"
#include "validation/kernels/micro.h"
#include "validation/predict/micro_row.h"

namespace validation {
namespace {

using isa::Engine;
using isa::Fn;
using isa::Opcode;
using Track = hw::TraceEvent::Track;

/// A program that ran, as a profiler shows it.
class Profile {
 public:
  Profile(isa::Program program, const hw::MachineParams& machine)
      : program_{std::move(program)},
        target_{machine.target()},
        result_{hw::simulate_in_child(program_, machine, {.trace_until = 1})} {}

  const hw::SimResult& result() const { return result_; }
  /// Seconds from the beginning of one instruction labelled "stream" to that of the next.
  double interval() const {
    std::vector<hw::Fs> begins;
    for (const hw::TraceEvent& e : result_.events)
      if (e.track == Track::kEngine && label(e) == "stream" && instr(e).op != Opcode::kWait) begins.push_back(e.begin);
    base::ensure(begins.size() > 1, "profile", "a stream of fewer than two instructions");
    return hw::seconds(begins.back() - begins.front()) / static_cast<double>(begins.size() - 1);
  }
  /// The first instruction of a kind, or the last one; a DMA's issue.
  const hw::TraceEvent& event(Opcode op, Track track, bool last = false) const {
    const hw::TraceEvent* found = nullptr;
    for (const hw::TraceEvent& e : result_.events)
      if (e.track == track && instr(e).op == op && (!found || last)) found = &e;
    base::ensure(found, "profile", "an instruction was not recorded in the trace");
    return *found;
  }
  /// From an instruction's beginning to its visible result: as the profiler prints for a matmul.
  double latency(Opcode op) const {
    const isa::Instr& i = instr(event(op, Track::kEngine));
    return target_.seconds(isa::cost_of(i, target_).latency, i.engine);
  }

 private:
  const isa::Instr& instr(const hw::TraceEvent& e) const {
    return program_.blocks[program_.calls[e.call].block].instrs[e.instr];
  }
  const std::string& label(const hw::TraceEvent& e) const {
    return program_.blocks[program_.calls[e.call].block].labels[instr(e).label];
  }

  isa::Program program_;
  isa::Target target_;
  hw::SimResult result_;
};

/// A row and the machine that it was seen on.
struct Bench {
  MicroJob& job;
  hw::MachineParams machine;

  /// Columns that stream through the engine.
  std::int64_t cols() const { return job.kernel.number("n").value_or(512); }
  Gemm matmul() const {
    const bool narrow = isa::size_of(job.dtype) <= 4 && !isa::is_integer(job.dtype);
    return {.m = 128, .k = 128, .n = cols(), .dtype = narrow ? job.dtype : isa::Dtype::kBf16};
  }
  Profile run(isa::Program program) const { return {std::move(program), machine}; }
  isa::Target target() const { return machine.target(); }

  Profile activations(std::int64_t cols, Fn second = Fn::kCopy) const {
    if (second == Fn::kCopy && job.kernel.has("function")) second = Fn::kExp;
    return run(activation_stream({.cols = cols,
                                  .psum = cols <= isa::kMovingColumns && !job.kernel.has("sbuf"),
                                  .first = second == Fn::kCopy ? Fn::kCopy : Fn::kExp,
                                  .second = second},
                                 target()));
  }
  /// ScalarE is held for as long as the profiler prints, so independent ones begin as far apart.
  double activation(std::int64_t cols) const { return activations(cols).interval(); }
};

// ---- profiled quantities, and their seconds

/// The slope of durations over a range of columns: "n=8..120".
double activation_element(const Bench& b) {
  const std::string range = b.job.kernel.text("n");
  Words ends{.name = "", .settings = {{"least", "8"}, {"most", "512"}}};
  if (const auto dots = range.find(".."); dots != std::string::npos)
    ends.settings = {{"least", range.substr(0, dots)}, {"most", range.substr(dots + 2)}};
  const std::int64_t least = ends.number("least").value_or(8), most = ends.number("most").value_or(512);
  return (b.activation(most) - b.activation(least)) / static_cast<double>(most - least);
}
double activation_fixed(const Bench& b) { return b.activation(8) - 8 * activation_element(b); }

double activation_duration(const Bench& b) { return b.activation(b.cols()); }

double table_load(const Bench& b) {
  return b.activations(512, Fn::kGelu).interval() - b.activations(512, Fn::kExp).interval();
}

double matmul_duration(const Bench& b) {
  return b.run(profiled_matmul(b.matmul(), b.target())).latency(Opcode::kMatMul);
}
double matmul_interval(const Bench& b) {
  constexpr int kCount = 6;  // no bank is used twice
  return b.run(matmul_stream(b.matmul(), kCount, b.target())).interval();
}

/// A pass of a matmul of fp32, of which two are one instruction.
double matmul_pass(const Bench& b) {
  const double columns = static_cast<double>(b.cols()) * b.machine.tensor_fp32_passes.value / 2;
  return (columns + b.machine.tensor_latency.value) / b.machine.tensor_clock.value;
}

/// One instruction of VectorE, from its beginning to its visible result.
double vector_duration(const Bench& b) {
  const auto op = isa::opcode_from(b.job.kernel.text("op"));
  base::ensure(op.has_value(), b.job.row.id, "does not name an instruction");
  const auto tile = [](isa::Space space, std::int64_t cols) {
    isa::Tile out{.space = space, .dtype = isa::Dtype::kFp32, .partitions = isa::kPartitions};
    out.free[0].step = 1, out.free[0].size = static_cast<std::uint16_t>(cols);
    return out;
  };
  isa::Instr instr{.op = *op, .engine = Engine::kVector};
  instr.a = tile(b.job.kernel.has("psum") ? isa::Space::kPsum : isa::Space::kSbuf, b.cols());
  instr.dst = tile(isa::Space::kSbuf, *op == Opcode::kTensorReduce ? 1 : b.cols());
  if (*op == Opcode::kTensorScalar) instr.b = tile(isa::Space::kSbuf, 1);
  return b.target().seconds(isa::cost_of(instr, b.target()).latency, instr.engine);
}

double load_to_matmul(const Bench& b) {
  const Profile profile = b.run(profiled_matmul(b.matmul(), b.target()));
  const auto& engine = profile.result().engines[static_cast<std::size_t>(Engine::kTensor)];
  return hw::seconds(engine.waiting[static_cast<std::size_t>(hw::Hold::kStationary)]);
}
/// The operand's path is half of a matmul's, which continues to PSUM: assumed, nothing depends on it.
double load_duration(const Bench& b) {
  const double way = b.machine.tensor_latency.value / 2 / b.machine.tensor_clock.value;
  const double times = isa::size_of(b.job.dtype) > 2 ? 2 : 1;  // of fp32 a high and a low half
  return times * (128 / b.machine.tensor_fast_load.value / b.machine.tensor_clock.value + way);
}

double matmul_to_activation(const Bench& b) {
  const Profile p = b.run(profiled_matmul(b.matmul(), b.target()));
  const double gap =
      hw::seconds(p.event(Opcode::kActivation, Track::kEngine).begin - p.event(Opcode::kMatMul, Track::kEngine).begin);
  return gap - p.latency(Opcode::kMatMul);
}
double activation_to_store(const Bench& b) {
  const Profile p = b.run(profiled_matmul(b.matmul(), b.target()));
  return hw::seconds(p.event(Opcode::kDmaCopy, Track::kEngine, true).begin -
                     p.event(Opcode::kActivation, Track::kEngine).end);
}
double issue_to_descriptor(const Bench& b) {
  const Profile p = b.run(profiled_matmul(b.matmul(), b.target()));
  return hw::seconds(p.event(Opcode::kDmaCopy, Track::kDmaRing).begin -
                     p.event(Opcode::kDmaCopy, Track::kEngine).begin);
}

/// The descriptor of a word is the one that raises a semaphore; a longer one is as long as the row says.
double descriptor_duration(const Bench& b) {
  const auto bytes = static_cast<std::int64_t>(b.job.shape.bytes.value_or(0));
  constexpr std::int64_t kWord = 4;
  if (bytes <= kWord) return b.machine.dma_completion.value;
  hw::MachineParams machine = b.machine;
  machine.dma_packet.value = std::max(machine.dma_packet.value, static_cast<double>(bytes));
  const Profile p{descriptor(bytes, machine.target()), machine};
  const hw::TraceEvent& moved = p.event(Opcode::kDmaCopy, Track::kDmaRing);
  return hw::seconds(moved.end - moved.begin) - machine.dma_completion.value;
}

/// The descriptor of a gather or scatter.
double indexed_descriptor(const Bench& b) {
  return b.machine.dma_indexed_setup.value + b.job.shape.bytes.value_or(0) / b.machine.dma_engine_rate.value;
}

double issue_step(const Bench& b) { return b.machine.min_interval.value / b.machine.sync_clock.value; }

// ---- the names of profiled quantities

struct Question {
  std::string_view name;
  double (*answer)(const Bench&);
};
constexpr std::array kQuestions = {
    Question{"descriptor", descriptor_duration},
    Question{"indexed-descriptor", indexed_descriptor},
    Question{"descriptor-generation", [](const Bench& b) { return b.machine.dma_generation.value; }},
    Question{"vector", vector_duration},
    Question{"matmul-pass", matmul_pass},
    Question{"issue-to-descriptor", issue_to_descriptor},
    Question{"activate-to-store", activation_to_store},
    Question{"matmul-to-activate", matmul_to_activation},
    Question{"load-to-matmul", load_to_matmul},
    Question{"load", load_duration},
    Question{"matmul-interval", matmul_interval},
    Question{"matmul-latency", matmul_duration},
    Question{"table-load", table_load},
    Question{"activate-per-element", activation_element},
    Question{"activate-fixed", activation_fixed},
    Question{"activate", activation_duration},
    // A sequencer alone. An address in a register is a load of one.
    Question{"tensor-load",
             [](const Bench& b) { return b.machine.dynamic_address.value / b.machine.vector_clock.value; }},
    Question{"tensor-store", [](const Bench& b) { return 2 * issue_step(b); }},  // the address and the word
    Question{"semaphore-clear", [](const Bench& b) { return b.machine.semaphore_clear.value; }},
    Question{"sequencer-write", issue_step},
    Question{"sequencer-step", [](const Bench& b) { return b.machine.register_step.value; }},
};

}  // namespace

std::optional<Prediction> predict_profiled(MicroJob& job) {
  const auto* asked = std::ranges::find(kQuestions, job.kernel.name, &Question::name);
  if (asked == kQuestions.end() || !job.kernel.unknown("n sbuf psum function op").empty()) return std::nullopt;
  Bench bench{.job = job, .machine = {}};
  bench.machine = machine_of(std::get<MicroRow>(job.row.job).instance, on_physical_cores(job.context), job.assumed);
  const double seconds = asked->answer(bench);
  return in_row_metric(job.row, {.seconds = seconds}, std::move(job.assumed), {});
}

}  // namespace validation
