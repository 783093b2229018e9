// `trnsim compile WORKLOAD`: the program of a training step, and what each pass did to it.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/train_options.h"
#include "cli/verbs.h"
#include "hw/sim_device.h"
#include "isa/asm.h"
#include "runtime/op.h"

namespace cli {
namespace {

struct CompileOptions {
  TrainOptions train;
  std::string workload, emit, output;
  bool explain = false;
};

struct Target {
  ProjectedJob job;
  hw::MachineParams machine;
};

Target target_of(const CompileOptions& options) {
  const workloads::Job job = workloads::load_job(options.workload);
  TrainOptions train = options.train;
  apply_defaults(train, job.options, job.file);
  hw::MachineParams machine = hw::load_machine(train.instance_type, train.set);
  workloads::BertConfig config =
      train.model_id.empty() ? workloads::bert_preset(job.model) : workloads::read_bert_config(train.model_id);
  if (train.model_id.empty()) {
    config.label_names.clear();
    for (std::int64_t i = 0; i < job.labels; ++i) config.label_names.push_back(fmt::format("LABEL_{}", i));
  }
  ProjectedJob projected = projected_job(train, config, job.samples, 0);
  projected.step.ranks = cores_of(train, machine);
  return {std::move(projected), std::move(machine)};
}

runtime::Compiled compiled_with(const Target& t, const runtime::Passes& passes) {
  return runtime::compile(
      workloads::bert_graph(t.job.config, t.job.step),
      {.name = "train", .ranks = t.job.step.ranks, .groups = one_group(t.job.step.ranks), .passes = passes});
}

std::string graph_text(const Target& t) {
  const runtime::Graph graph = workloads::bert_graph(t.job.config, t.job.step);
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

/// One line of `--explain`: what the step is with everything on, and with one pass off.
struct Measured {
  double milliseconds = 0, hbm_bytes = 0, traffic = 0;
  std::uint64_t instructions = 0;
};

Measured measure(const Target& t, const runtime::Passes& passes) {
  const runtime::Compiled c = compiled_with(t, passes);
  const hw::SimResult r = hw::simulate(c.program, t.machine, {.exact = t.job.exact});
  std::uint64_t instructions = 0;
  for (const isa::Call& call : c.program.calls) instructions += c.program.blocks[call.block].instrs.size();
  return {hw::seconds(r.total) * 1e3, static_cast<double>(c.program.hbm_bytes),
          static_cast<double>(r.dma.read_bytes + r.dma.written_bytes), instructions};
}

std::string explanation(const Target& t, base::Format form) {
  const runtime::Compiled all = compiled_with(t, t.job.passes);
  base::Table notes{{{"pass", ""}, {"count", ""}, {"what", "what it changed"}}};
  for (const runtime::PassNote& note : all.notes) notes.add_row({note.pass, fmt::format("{}", note.count), note.text});
  const Measured with = measure(t, t.job.passes);
  base::Table gains{{{"pass", "without the pass"},
                     {"step", "step ms"},
                     {"slower", "slower %"},
                     {"traffic", "HBM traffic"},
                     {"memory", "HBM per core"},
                     {"instructions", ""},
                     {"text", "what the pass does"}}};
  const auto row = [&](std::string_view name, const Measured& m, std::string_view text) {
    const auto bytes = [](double b) { return base::readable(b, base::Dimension::kBytes); };
    gains.add_row({name, fmt::format("{:.2f}", m.milliseconds),
                   fmt::format("{:+.1f}", 100 * (m.milliseconds / with.milliseconds - 1)), bytes(m.traffic),
                   bytes(m.hbm_bytes), fmt::format("{}", m.instructions), text});
  };
  row("(all as given)", with, "");
  for (const runtime::PassInfo& pass : runtime::kPasses) {
    if (!(t.job.passes.*pass.flag)) continue;
    runtime::Passes without = t.job.passes;
    without.*pass.flag = false;
    row(pass.name, measure(t, without), pass.text);
  }
  return notes.render(form) + "\n" + gains.render(form);
}

void compile(const CompileOptions& options) {
  const base::Format form = base::parse_format(options.train.format);
  if (!options.emit.empty()) require_choice("--emit", options.emit, "asm|graph|memory");
  const Target t = target_of(options);
  if (options.explain) {
    print(explanation(t, form));
    return;
  }
  const runtime::Compiled c = compiled_with(t, t.job.passes);
  std::string text;
  if (options.emit == "asm") text = isa::print(c.program);
  if (options.emit == "graph") text = graph_text(t);
  if (options.emit == "memory") text = memory_table(c.memory, t.machine.hbm_bytes_per_core()).render(form);
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
    text = blocks.render(form) + "\n" + memory_table(c.memory, t.machine.hbm_bytes_per_core()).render(form);
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
