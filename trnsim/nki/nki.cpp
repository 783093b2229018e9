#include "trnsim/nki/nki.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hw/sim_device.h"
#include "isa/exec.h"
#include "isa/names.h"
#include "runtime/nki/passes.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kAlign = 4096;  // bytes: alignment of tensors in HBM

isa::Program program_of(const runtime::nki::Arranged& arranged, const std::vector<NkiTensor>& tensors) {
  isa::Program out;
  out.name = arranged.block.name;
  isa::Call call{.block = 0, .bases = {}};
  const auto reserve = [&](const std::string& name, const char* kind, std::uint64_t bytes) {
    out.regions.push_back({.name = name,
                           .kind = kind,
                           .dtype = isa::Dtype::kUint8,
                           .shape = {static_cast<std::int64_t>(bytes)},
                           .offset = out.hbm_bytes,
                           .bytes = bytes});
    call.bases.push_back(out.hbm_bytes);
    out.hbm_bytes += (bytes + kAlign - 1) / kAlign * kAlign;
  };
  for (const NkiTensor& t : tensors) reserve(t.name, t.input ? "inputs" : "outputs", t.bytes);
  if (arranged.has_spill_area) reserve("spills", "workspace", static_cast<std::uint64_t>(arranged.spill_bytes));
  out.blocks.push_back(arranged.block);
  out.calls.push_back(std::move(call));
  out.model_flops = arranged.block.matmul_flops;
  return out;
}

/// The sources alone, which are beside a build without the module too, run nothing.
bool has_module(const std::filesystem::path& folder) {
  std::error_code none;
  return std::filesystem::exists(folder / "nki/__main__.py") &&
         std::ranges::any_of(std::filesystem::directory_iterator{folder, none}, [](const auto& file) {
           return file.path().filename().string().starts_with("_core.") && file.path().extension() == ".so";
         });
}

}  // namespace

std::optional<std::filesystem::path> nki_module() {
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path& folder :
       {binary / "python", binary.parent_path() / "lib/python3/dist-packages", binary.parent_path() / "python"})
    if (has_module(folder / "trnsim")) return folder;
  return std::nullopt;
}

namespace {

runtime::nki::Arranged arranged_of(runtime::nki::Trace& trace, const std::vector<NkiTensor>& tensors,
                                   const hw::MachineParams& machine, const runtime::nki::NkiPasses& passes) {
  runtime::VirtualBlock block = trace.finish();
  std::vector<bool> given;
  for (const NkiTensor& t : tensors) given.push_back(t.input);
  const std::vector<runtime::nki::Doubt> empty = runtime::nki::unwritten_reads(block, std::move(given));
  const std::vector<runtime::nki::Doubt> late = runtime::nki::overwritten_operands(block);
  std::vector<runtime::nki::Doubt> sums;
  // Where a kernel places its tensors, which may fill all of its part, those of the compiler are in the compiler's.
  const std::int64_t reserved = trace.places() ? 0 : kCompilerSbuf;
  if (trace.newer()) {
    sums = runtime::nki::sums_of_values(block);
    runtime::nki::require_loaded(block, machine.target().geometry.sbuf_partition_bytes - reserved);
  }
  runtime::nki::Arranged out = runtime::nki::arrange(
      std::move(block), machine.target(), {.passes = passes, .reserved_sbuf = reserved}, trace.loops(), trace.open());
  for (const auto& more : {empty, late, sums, trace.doubts()})
    out.doubts.insert(out.doubts.end(), more.begin(), more.end());
  return out;
}

}  // namespace

NkiKernel::NkiKernel(runtime::nki::Trace& trace, std::vector<NkiTensor> tensors, const hw::MachineParams& machine,
                     const runtime::nki::NkiPasses& passes)
    : machine_{machine},
      arranged_{arranged_of(trace, tensors, machine, passes)},
      program_{program_of(arranged_, tensors)},
      newer_{trace.newer()} {}

NkiKernel::NkiKernel(runtime::VirtualBlock&& so_far, const std::vector<NkiTensor>& tensors,
                     const hw::MachineParams& machine)
    : machine_{machine},
      arranged_{runtime::nki::arrange(std::move(so_far), machine.target(),
                                      {.passes = runtime::nki::kAsWritten, .reserved_sbuf = 0})},
      program_{program_of(arranged_, tensors)} {}

NkiKernel::~NkiKernel() = default;

std::span<std::byte> NkiKernel::memory(std::size_t tensor) {
  if (!device_) {
    device_ = isa::make_numeric_device();
    device_->load(program_);
  }
  const isa::Region& region = program_.regions.at(tensor);
  return {device_->memory(0).hbm() + region.offset, region.bytes};
}

void NkiKernel::compute(int host_threads) {
  memory(0);
  outside_.clear();
  device_->run({.host_threads = host_threads, .outside = &outside_});
}

std::vector<runtime::nki::Doubt> NkiKernel::outside() const {
  std::map<std::pair<std::uint32_t, isa::Fn>, std::uint64_t> inputs;  // by line
  std::map<std::uint32_t, std::uint64_t> rows;
  for (const auto& [index, count] : outside_) {
    const isa::Instr& instr = block().instrs[index];
    if (!isa::is_dma(instr.op))
      inputs[{instr.label, instr.fn}] += count;
    else if (newer_)  // in the older dialect, additions to one row are atomic
      rows[instr.label] += count;
  }
  std::vector<runtime::nki::Doubt> out;
  for (const auto& [line, count] : inputs)
    out.push_back({line.first, fmt::format("{} inputs of {} are outside of {}, the range of ScalarE's function: the "
                                           "chip may give any number there; bring them into it first",
                                           count, isa::name_of(line.second), isa::documented_inputs(line.second))});
  for (const auto& [label, count] : rows)
    out.push_back({label, fmt::format("{} indices name a row that an earlier one names, too: the chip may lose all but "
                                      "one of the sums to it (unique_indices); add such rows up first",
                                      count)});
  return out;
}

namespace {

/// How long an engine waited for the other core, the one that waited longest.
hw::Fs awaited(const hw::SimResult& result) {
  hw::Fs out = 0;
  for (const hw::EngineTime& e : result.engines)
    out = std::max(out, e.waiting[static_cast<std::size_t>(hw::Hold::kBarrier)]);
  return out;
}

/// Whether a core takes longer than another one; of two that end a semaphore's way apart, which may be that of their
/// last meeting, the one that waited less for the other.
bool holds_up(const hw::SimResult& core, const hw::SimResult& other, hw::Fs way) {
  if (core.total > other.total + way || other.total > core.total + way) return core.total > other.total;
  return std::pair{awaited(other), core.total} > std::pair{awaited(core), other.total};
}

}  // namespace

bool NkiKernel::beside(NkiKernel& first, NkiKernel& second) {
  for (std::uint32_t rank = 0; isa::Program * program : {&first.program_, &second.program_})
    program->ranks = 2, program->first_rank = rank++, program->own_ranks = 1;
  first.other_ = second.program_, second.other_ = first.program_;
  const auto results = hw::simulate_each({&first.program_, &second.program_}, first.machine_, {});
  return holds_up(results.back(), results.front(), hw::fs_of(first.machine_.semaphore.value));
}

NkiTime NkiKernel::time(bool path) const {
  hw::SimOptions options;
  if (path) options.trace_until = 1000;  // seconds: all of it
  isa::Programs programs{&program_};
  if (other_) programs.push_back(&*other_);
  NkiTime out{.result = std::move(hw::simulate_each(programs, machine_, options).front()), .lines = {}};
  std::map<std::uint32_t, NkiLine> lines;
  for (const hw::OpTime& op : out.result.ops) {
    NkiLine& line = lines[op.label];
    line.label = block().labels[op.label];
    line.instructions += op.count;
    line.busy += hw::seconds(op.busy), line.waiting += hw::seconds(op.waiting);
    line.engine = isa::name_of(op.engine);
  }
  const std::vector<double> critical =
      path ? critical_lines(block(), out.result) : std::vector<double>(block().labels.size(), 0.0);
  for (auto& [label, line] : lines) {
    line.critical = critical[label];
    out.lines.push_back(std::move(line));
  }
  std::ranges::sort(out.lines, std::ranges::greater{}, [](const NkiLine& l) {
    return std::pair{l.critical, l.busy + l.waiting};
  });
  if (path) {  // the lines and the launch together are the whole time
    double held = 0;
    for (const NkiLine& line : out.lines) held += line.critical;
    const double rest = std::max(0.0, hw::seconds(out.result.total) - held);
    out.lines.push_back({.label = std::string{kLaunch}, .engine = "-", .critical = rest});
  }
  return out;
}

}  // namespace trnsim
