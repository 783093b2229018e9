// `trnsim compile WORKLOAD`: the program of a training step, and what each pass did to it.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "isa/asm.h"
#include "runtime/op.h"
#include "trnsim/compiled_step.h"
#include "trnsim/option_table.h"
#include "trnsim/run_report.h"
#include "trnsim/settings.h"

namespace cli {

using namespace trnsim;
namespace {

struct CompileOptions {
  TrainOptions train;
  std::string workload, emit, output;
  bool explain = false;
};

std::string graph_text(const StepTarget& t) {
  const runtime::Graph graph = t.graph(t.size);
  std::string out;
  for (runtime::NodeId n = 0; n < graph.node_count(); ++n) {
    const runtime::Node& node = graph.node(n);
    if (!node.op) continue;
    const runtime::Scope& scope = graph.scope_of(node);
    out += fmt::format("{}[{}] {} {}:", scope.name, scope.instance, node.op->name, node.label);
    for (const runtime::ValueId v : node.in) {
      const runtime::Value& value = graph.value(v);
      out += fmt::format(" {} [{}, {}]", value.name, value.rows, value.cols);
    }
    out += " ->";
    for (const runtime::ValueId v : node.out) {
      const runtime::Value& value = graph.value(v);
      out += fmt::format(" {} [{}, {}] {}", value.name, value.rows, value.cols, isa::name_of(value.dtype));
    }
    out += '\n';
  }
  return out;
}

std::string explanation(const StepTarget& t, base::Format form) {
  base::Table notes{{{"pass", ""}, {"count", ""}, {"what", "what it changed"}}};
  for (const runtime::PassNote& note : compiled_with(t, t.options.passes).notes)
    notes.add_row({note.pass, static_cast<std::uint64_t>(note.count), note.text});
  return notes.render(form) + "\n" + pass_table(t).render(form);
}

void compile(const CompileOptions& options) {
  const base::Format form = base::parse_format(options.train.format);
  if (!options.emit.empty()) require_choice("--emit", options.emit, "asm|graph|memory");
  const StepTarget t = step_target(options.workload, options.train);
  if (options.explain) {
    print(explanation(t, form));
    return;
  }
  const runtime::Compiled c = compiled_with(t, t.options.passes);
  std::string text;
  if (options.emit == "asm") text = isa::print(c.program);
  if (options.emit == "graph") text = graph_text(t);
  if (options.emit == "memory")
    text = memory_table(c.memory.bytes_by_kind, c.memory.total, t.machine.hbm_bytes_per_core()).render(form);
  if (options.emit.empty()) {
    base::Table blocks{{{"block", ""},
                        {"calls", ""},
                        {"instructions", ""},
                        {"matmul", "matmul GFLOPs"},
                        {"sbuf", "SBUF bytes per partition"}}};
    for (std::size_t b = 0; b < c.program.blocks.size(); ++b) {
      const isa::Block& block = c.program.blocks[b];
      std::size_t calls = 0;
      for (const isa::Call& call : c.program.calls) calls += call.block == b;
      blocks.add_row({block.name, fmt::format("{}", calls), fmt::format("{}", block.instrs.size()),
                      fmt::format("{:.3f}", block.matmul_flops / 1e9), fmt::format("{}", block.sbuf_bytes)});
    }
    text = blocks.render(form) + "\n" +
           memory_table(c.memory.bytes_by_kind, c.memory.total, t.machine.hbm_bytes_per_core()).render(form);
  }
  if (options.output.empty())
    print(text);
  else
    base::write_file(options.output, text);
}

}  // namespace

void add_compile(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, or a workload file")->required();
  app.add_option("--emit", options->emit, "what to print: the program, the graph, the memory plan")
      ->type_name("asm|graph|memory");
  app.add_option("--output", options->output, "file for what --emit makes; default: stdout");
  app.add_flag("--explain", options->explain, "what each pass changed, the time and the bytes that it saved");
  add_train_options(app, "compile", options->train);
  app.final_callback([options, &app] {
    settle(app, "compile", options->train);
    compile(*options);
  });
}

}  // namespace cli
