#include "trnsim/compiled_step.h"

#include <fmt/format.h>

#include "base/progress.h"
#include "base/units.h"
#include "hw/sim_device.h"
#include "runtime/op.h"

namespace trnsim {
namespace {

/// One simulated step.
struct StepFigures {
  double seconds = 0, hbm_bytes = 0, traffic = 0;
  std::uint64_t instructions = 0;
};

StepFigures figures(const StepTarget& t, const runtime::Passes& passes) {
  const runtime::Compiled c = compiled_with(t, passes);
  const hw::SimResult r = hw::simulate_in_child(c.program, t.machine, {.exact = t.exact});
  std::uint64_t instructions = 0;
  for (const isa::Call& call : c.program.calls) instructions += c.program.blocks[call.block].instrs.size();
  return {hw::seconds(r.total), static_cast<double>(c.memory.total),
          static_cast<double>(r.dma.read_bytes + r.dma.written_bytes), instructions};
}

struct Variant {
  std::string name;  // as --passes would switch it
  runtime::Passes passes;
  std::string_view text;
};

std::vector<Variant> variants(const runtime::Passes& given) {
  std::vector<Variant> out{{"(as given)", given, "the step as it is"}};
  runtime::Passes none = given;
  for (const runtime::PassInfo& pass : runtime::kPasses) {
    runtime::Passes other = given;
    other.*pass.flag = !(given.*pass.flag);
    none.*pass.flag = false;
    out.push_back({fmt::format("{}{}", given.*pass.flag ? '-' : '+', pass.name), other, pass.text});
  }
  out.push_back({"(none)", none, "no pass at all"});
  return out;
}

}  // namespace

StepTarget step_target(const ProjectedJob& job, const hw::MachineParams& machine) {
  const auto graph = [config = job.config, spec = job.step](const StepSize& size) {
    workloads::Step step = spec;
    step.plan.micro_batch = size.batch, step.plan.micro_batches = size.micro_batches;
    return workloads::bert_graph(config, step);
  };
  return {.graph = graph,
          .size = {job.step.plan.micro_batch, job.step.plan.micro_batches},
          .options = {.name = "train", .ranks = job.step.plan.data, .passes = job.passes},
          .exact = job.exact,
          .machine = machine};
}

StepTarget step_target(const DecoderJob& job, const hw::MachineParams& machine) {
  const auto graph = [job](const StepSize& size) {
    DecoderJob other = job;
    other.step.plan.micro_batch = size.batch;
    return stage_step(other, size.micro_batches).graph;
  };
  return {.graph = graph,
          .size = {job.step.plan.micro_batch, job.step.plan.micro_batches},
          .options = stage_options(job),
          .exact = job.exact,
          .machine = machine};
}

StepTarget step_target(const std::string& workload, const TrainOptions& given) {
  const workloads::Job job = workloads::load_job(workload);
  TrainOptions train = given;
  apply_defaults(train, job.options, job.file);
  if (is_decoder(job)) {
    const DecoderJob decoder =
        decoder_job(train, decoder_config(train.model_id.empty() ? job.model : train.model_id), 0);
    return step_target(decoder, machines_of(decoder, train.instance_type, train.set).stage);
  }
  refuse_plan_of_encoder(given, job.model);
  const hw::MachineParams machine = hw::load_machine(train.instance_type, train.set);
  workloads::BertConfig config =
      train.model_id.empty() ? workloads::bert_preset(job.model) : workloads::read_bert_config(train.model_id);
  if (train.model_id.empty()) {
    config.label_names.clear();
    for (std::int64_t i = 0; i < job.labels; ++i) config.label_names.push_back(fmt::format("LABEL_{}", i));
  }
  ProjectedJob projected = projected_job(train, config, job.samples, 0);
  projected.step.plan.data = cores_of(train, machine);
  return step_target(projected, machine);
}

runtime::Compiled compiled_with(const StepTarget& t, const runtime::Passes& passes) {
  runtime::CompileOptions options = t.options;
  options.passes = passes;
  return runtime::compile(t.graph(t.size), t.machine.target(), options);
}

base::Table pass_table(const StepTarget& target, const std::vector<PassColumn>& more) {
  std::vector<base::Column> columns{{"pass", "pass switched"},        {"step_seconds", "step ms"},
                                    {"change_percent", "change %"},   {"hbm_bytes", "HBM per core"},
                                    {"traffic_bytes", "HBM traffic"}, {"instructions", ""}};
  for (const PassColumn& column : more) columns.push_back(column.column);
  columns.push_back({"text", "what the pass does"});
  base::Table table{columns};
  const auto bytes = [](double n) { return base::Cell{n, base::readable(n, base::Dimension::kBytes)}; };
  const std::vector<Variant> all = variants(target.options.passes);
  base::Progress progress{"passes", "program", all.size()};
  double as_given = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    progress.update(i, all[i].name);
    const StepFigures f = figures(target, all[i].passes);
    if (i == 0) as_given = f.seconds;
    const double change = 100 * (f.seconds / as_given - 1);
    std::vector<base::Cell> cells{all[i].name,
                                  base::Cell{f.seconds, fmt::format("{:.2f}", f.seconds * 1e3)},
                                  base::Cell{change, fmt::format("{:+.1f}", change)},
                                  bytes(f.hbm_bytes),
                                  bytes(f.traffic),
                                  f.instructions};
    for (const PassColumn& column : more) cells.push_back(column.cell(all[i].passes));
    cells.push_back(all[i].text);
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace trnsim
