// Compiled kernels: their memory, their time, and the pages that show them.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analysis/report/kernel_report.h"
#include "base/error.h"
#include "base/files.h"
#include "isa/names.h"
#include "python/api/gil.h"
#include "python/nki/bind.h"
#include "trnsim/nki/nki.h"

namespace trnsim_python {

namespace {

using runtime::nki::View;
using trnsim::NkiKernel;

/// A machine, and what programs for it are compiled for.
struct Machine {
  hw::MachineParams params;
  isa::Target target;
};

py::dict engine_of(const hw::EngineTime& time) {
  py::dict waits;
  for (std::size_t h = 0; h < hw::kHoldCount; ++h)
    if (time.waiting[h] > 0) waits[hw::kHoldNames[h]] = hw::seconds(time.waiting[h]);
  py::dict out;
  out["busy"] = hw::seconds(time.busy), out["waiting"] = waits, out["idle"] = hw::seconds(time.idle);
  out["instructions"] = time.instructions;
  return out;
}

py::dict time_of(const NkiKernel& kernel, bool trace) {
  trnsim::NkiTime time;
  {
    const WithoutGil free;
    time = kernel.time(trace);
  }
  const hw::SimResult& r = time.result;
  py::dict engines, out;
  for (int e = 0; e < isa::kEngineCount; ++e)
    engines[py::str(std::string{isa::name_of(static_cast<isa::Engine>(e))})] =
        engine_of(r.engines[static_cast<std::size_t>(e)]);
  py::list lines;
  for (const trnsim::NkiLine& l : time.lines)
    lines.append(py::make_tuple(l.label, l.engine, l.instructions, l.busy, l.waiting, l.critical));
  const runtime::nki::Arranged& a = kernel.arranged();
  out["seconds"] = hw::seconds(r.total), out["lead_in"] = hw::seconds(r.lead_in), out["engines"] = engines;
  out["dma_active"] = hw::seconds(r.dma.active), out["dma_transfers"] = r.dma.transfers;
  out["hbm_read_bytes"] = r.dma.read_bytes, out["hbm_write_bytes"] = r.dma.written_bytes;
  out["spill_save_bytes"] = a.saved_bytes, out["spill_reload_bytes"] = a.restored_bytes;
  out["reused"] = a.reused, out["reloads"] = a.reloads, out["spills"] = a.spills;
  out["instructions"] = kernel.block().instrs.size(), out["matmul_flops"] = kernel.block().matmul_flops;
  out["sbuf_bytes"] = kernel.block().sbuf_bytes, out["psum_bytes"] = kernel.block().psum_bytes;
  out["peak_flops"] = r.peaks.matmul_flops, out["peak_bandwidth"] = r.peaks.hbm_bandwidth;
  out["lines"] = lines;
  out["benchmark"] = hw::seconds(r.total) + kernel.machine().benchmark.value;
  return out;
}

/// A page with these kernels; of each: itself, its name, the figures at the top, the source of its lines by place.
std::string html_of(
    const std::vector<std::tuple<std::shared_ptr<NkiKernel>, std::string,
                                 std::vector<std::pair<std::string, std::string>>, std::map<std::string, std::string>>>&
        kernels) {
  std::vector<analysis::KernelReport> pages;
  for (const auto& [kernel, name, figures, source] : kernels) {
    trnsim::NkiTime time = kernel->time(true);
    analysis::KernelReport page{.name = name, .figures = figures, .result = std::move(time.result), .lines = {}};
    page.matmul_flops = kernel->block().matmul_flops;
    page.hbm_bytes = static_cast<double>(page.result.dma.read_bytes + page.result.dma.written_bytes);
    for (const trnsim::NkiLine& l : time.lines) {
      const auto text = source.find(l.label);
      page.lines.push_back({.place = l.label,
                            .source = text == source.end() ? std::string{} : text->second,
                            .engine = l.engine,
                            .instructions = l.instructions,
                            .busy = l.busy,
                            .waiting = l.waiting,
                            .critical = l.critical});
    }
    pages.push_back(std::move(page));
  }
  return analysis::kernel_html(pages);
}

/// (line of the chart, line of the kernel, instruction, begin, end) of everything that happened, in microseconds.
py::list events_of(const NkiKernel& kernel) {
  trnsim::NkiTime time;
  {
    const WithoutGil free;
    time = kernel.time(true);
  }
  py::list out;
  for (const hw::TraceEvent& e : time.result.events) {
    const isa::Instr& instr = kernel.block().instrs[e.instr];
    const bool engine = e.track == hw::TraceEvent::Track::kEngine;
    const std::string lane =
        engine ? std::string{isa::name_of(static_cast<isa::Engine>(e.lane))} : "dma ring " + std::to_string(e.lane);
    out.append(py::make_tuple(lane, kernel.block().labels[instr.label], std::string{isa::name_of(instr.op)},
                              hw::seconds(e.begin) * 1e6, hw::seconds(e.end) * 1e6));
  }
  return out;
}

std::shared_ptr<NkiKernel> compiled(const std::shared_ptr<runtime::nki::Trace>& trace,
                                    const std::vector<std::tuple<std::string, std::uint64_t, bool>>& tensors,
                                    const Machine& machine, const std::string& passes) {
  std::vector<trnsim::NkiTensor> all;
  for (const auto& [name, bytes, input] : tensors) all.push_back({name, bytes, input});
  const bool as_written = passes == "none";
  const runtime::nki::NkiPasses chosen = as_written ? runtime::nki::kAsWritten : runtime::nki::switched({}, passes);
  const WithoutGil free;
  return std::make_shared<NkiKernel>(*trace, std::move(all), machine.params, chosen);
}

/// The kernels of the programs of one trace, each on a core of its own.
std::vector<std::shared_ptr<NkiKernel>> compiled_apart(
    const std::shared_ptr<runtime::nki::Trace>& trace, std::size_t programs,
    const std::vector<std::tuple<std::string, std::uint64_t, bool>>& tensors, const Machine& machine,
    const std::string& passes) {
  std::vector<std::shared_ptr<NkiKernel>> out;
  for (std::size_t p = 0; p < programs; ++p) out.push_back(compiled(trace->part(p), tensors, machine, passes));
  return out;
}

/// The kernel of the core that takes longer, of two that share a logical one.
std::shared_ptr<NkiKernel> slower(const std::shared_ptr<NkiKernel>& first, const std::shared_ptr<NkiKernel>& second) {
  const WithoutGil free;
  return NkiKernel::beside(*first, *second) ? second : first;
}

/// Errors: at the kernel's line, without the instruction there, which the script may know by another name.
void compute(NkiKernel& kernel, int threads) {
  try {
    kernel.compute(threads);
  } catch (const base::Error& e) {
    const std::string_view where = e.where();
    const std::size_t colon = where.rfind(": ");
    if (colon == std::string_view::npos || !isa::opcode_from(where.substr(colon + 2))) throw;
    throw base::Error{e.fault(), where.substr(0, colon), e.problem(), e.fix()};
  }
}

/// The bytes that `part` holds where the trace is now; `to`: a tensor in HBM as large, `inputs`: bytes of tensors.
py::bytes value_now(const std::shared_ptr<runtime::nki::Trace>& trace, const std::pair<View, View>& to_part,
                    const std::vector<std::tuple<std::string, std::uint64_t, bool>>& tensors, const Machine& machine,
                    const std::map<std::size_t, py::buffer>& inputs) {
  std::vector<trnsim::NkiTensor> all;
  for (const auto& [name, bytes, input] : tensors) all.push_back({name, bytes, input});
  NkiKernel kernel{trace->so_far(to_part.first, to_part.second), all, machine.params};
  for (const auto& [tensor, array] : inputs) {
    const py::buffer_info info = array.request();
    const auto memory = kernel.memory(tensor);
    std::memcpy(memory.data(), info.ptr, std::min(memory.size(), static_cast<std::size_t>(info.size * info.itemsize)));
  }
  compute(kernel, 0);
  const auto found = kernel.memory(to_part.first.storage->reg);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

/// Each doubt with the kernel's line.
py::list with_lines(const NkiKernel& kernel, const std::vector<runtime::nki::Doubt>& doubts) {
  py::list out;
  for (const runtime::nki::Doubt& d : doubts) out.append(py::make_tuple(kernel.block().labels[d.label], d.text));
  return out;
}

void bind_compiled(py::module_& m) {
  py::class_<NkiKernel, std::shared_ptr<NkiKernel>>(m, "Kernel")
      .def(py::init(&compiled))
      .def("memory",
           [](const std::shared_ptr<NkiKernel>& kernel, std::size_t tensor) {
             const auto bytes = kernel->memory(tensor);
             return py::memoryview::from_memory(bytes.data(), static_cast<py::ssize_t>(bytes.size()));
           })
      .def("compute",
           [](NkiKernel& kernel, int threads) {
             const WithoutGil free;
             compute(kernel, threads);
           })
      .def("time", &time_of)
      .def_static("apart", &compiled_apart)
      .def_static("slower", &slower)
      .def("events", &events_of)
      .def("written",
           [](const NkiKernel& kernel) {
             std::set<std::uint32_t> out;
             for (const isa::Instr& i : kernel.block().instrs)
               if (i.dst.space == isa::Space::kHbm) out.insert(i.dst.reg);
             return out;
           })
      .def("doubts", [](const NkiKernel& kernel) { return with_lines(kernel, kernel.arranged().doubts); })
      .def("outside", [](const NkiKernel& kernel) { return with_lines(kernel, kernel.outside()); })
      .def_static("html", &html_of)
      .def("listing", [](const NkiKernel& kernel) {
        py::list out;
        for (const isa::Instr& i : kernel.block().instrs)
          out.append(py::make_tuple(std::string{isa::name_of(i.op)}, std::string{isa::name_of(i.engine)},
                                    kernel.block().labels[i.label]));
        return out;
      });
}

}  // namespace

void bind_kernels(py::module_& m) {
  py::class_<Machine, std::shared_ptr<Machine>>(m, "Machine")
      .def(py::init([](const std::string& name, const std::vector<std::string>& set) {
        auto out = std::make_shared<Machine>();
        out->params = hw::load_machine(name, set);
        out->target = out->params.target();
        return out;
      }))
      .def_property_readonly("generation", [](const Machine& machine) { return machine.target.generation; })
      .def_property_readonly("sbuf_bytes",
                             [](const Machine& machine) { return trnsim::sbuf_for_kernels(machine.target); })
      .def("trace", [](const std::shared_ptr<Machine>& machine, const std::string& name, std::size_t most) {
        begin_trace();
        return std::shared_ptr<runtime::nki::Trace>{new runtime::nki::Trace{machine->target, name, most},
                                                    [machine](auto* trace) { delete trace; }};
      });
  m.def("value_now", &value_now);
  m.def("write_file", [](const std::string& path, const std::string& text) { base::write_file(path, text); });
  bind_compiled(m);
}

}  // namespace trnsim_python
