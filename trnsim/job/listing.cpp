#include "trnsim/job/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/cost/prices.h"
#include "analysis/export/export.h"
#include "analysis/figures/figure_table.h"
#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/rewrite.h"
#include "hw/params.h"
#include "isa/names.h"
#include "isa/reference.h"
#include "runtime/graph/numerics.h"
#include "runtime/ops/ops.h"
#include "trnsim/job.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/models/weights.h"

namespace trnsim {
namespace {

using base::Table;

Table list_machines() {
  using base::Align, base::Cell;
  Table table{{{"name", ""},
               {"chips", "", Align::kRight},
               {"cores", "cores of programs", Align::kRight},
               {"joined", "physical cores of each", Align::kRight},
               {"core_memory_bytes", "memory of each", Align::kRight},
               {"core_matmul_flops", "TFLOP/s of each", Align::kRight},
               {"use", "for"},
               {"on_demand", "on demand", Align::kRight},
               {"file", ""}}};
  for (const std::string& name : hw::machine_names()) {
    const hw::MachineParams m = hw::load_machine(name);
    const std::optional<double> price = analysis::price_per_hour(name);
    const double flops = m.peaks().matmul_flops;
    table.add_row({name, static_cast<int>(m.chips.value), m.instance_cores(), static_cast<int>(m.logical.value),
                   Cell{m.hbm_bytes_per_core(),
                        base::readable(static_cast<double>(m.hbm_bytes_per_core()), base::Dimension::kBytes)},
                   Cell{flops, fmt::format("{:.3g}", flops / 1e12)},
                   m.training.value > 0 ? "training, inference" : "inference",
                   price ? Cell{*price, fmt::format("${:.4g}/h", *price)} : Cell{},
                   base::data_path("hw/params/" + name + ".toml").string()});
  }
  return table;
}

Table list_params() {
  const base::ParamFile file = hw::machine_file("trn1.2xlarge");
  Table table{{{"key", ""}, {"value", "value on trn1.2xlarge"}, {"text", ""}}};
  for (const std::string& key : file.keys()) {
    const base::Parameter& p = file.parameter(key);
    table.add_row({p.key, p.values.empty() ? "" : p.values.front(), p.text});
  }
  return table;
}

Table list_ops() {
  Table table{{{"name", "operator"},
               {"form", "is lowered by"},
               {"gradient", "has a gradient"},
               {"matmul_flops", "counts matmul FLOPs"},
               {"text", "computes"}}};
  const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
  for (const runtime::Op* op : runtime::all_ops())
    table.add_row(
        {op->name, form_of(*op), yes_no(op->backward != nullptr), yes_no(op->matmul_flops != nullptr), op->text});
  return table;
}

/// The operators of graphs from other frameworks.
Table list_frontend() {
  Table table{{{"name", "operator"},
               {"hlo", "in HLO"},
               {"group", ""},
               {"attributes", ""},
               {"computed", "by the reference"},
               {"flops", "counts matmul FLOPs"}}};
  const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
  for (const frontend::Operator& op : frontend::operators()) {
    std::string attributes;
    for (const frontend::AttributeRule& rule : op.attributes)
      attributes += fmt::format("{}{}{}", attributes.empty() ? "" : ", ", rule.name, rule.required ? "" : "?");
    table.add_row({op.name, op.hlo, name_of(op.group), attributes, yes_no(op.evaluate != nullptr),
                   yes_no(op.product_flops != nullptr)});
  }
  return table;
}

Table list_workloads() {
  Table table{{{"name", ""},
               {"text", "what"},
               {"model", ""},
               {"small_model", "trained for real"},
               {"samples", ""},
               {"eval_samples", "for evaluation"},
               {"file", ""}}};
  for (const std::string& name : workloads::workload_names()) {
    const workloads::Workload job = workloads::load_workload(name);
    table.add_row({name, job.text, job.model, job.small_model, job.samples, job.eval_samples, job.file});
  }
  return table;
}

Table list_models() {
  Table table{{{"name", ""}, {"family", ""}, {"layers", ""}, {"hidden", ""}, {"parameters", ""}, {"source", ""}}};
  for (const workloads::Preset& preset : workloads::model_presets()) {
    const workloads::Sizes sizes = preset.model->sizes();
    table.add_row({preset.name, preset.model->family(), sizes.layers, sizes.hidden,
                   static_cast<std::uint64_t>(workloads::parameter_count(preset.model->weights())), preset.source});
  }
  return table;
}

Table list_stacks() {
  Table table{{{"name", ""},
               {"text", "the software"},
               {"per_op", "s per traced operation"},
               {"copy_bandwidth", "B/s of copies"},
               {"passes", ""},
               {"file", ""}}};
  for (const std::string& name : analysis::stack_names()) {
    const analysis::Stack stack = analysis::load_stack(name);
    table.add_row({name, stack.text, base::Cell{stack.per_op.value, fmt::format("{:.3g}", stack.per_op.value)},
                   base::Cell{stack.copy_bandwidth.value, fmt::format("{:.3g}", stack.copy_bandwidth.value)},
                   stack.passes, base::data_path("analysis/host/stacks/" + name + ".toml").string()});
  }
  return table;
}

Table list_numerics() {
  Table table{{{"name", ""},
               {"weights", ""},
               {"activations", ""},
               {"operands", "TensorE multiplies"},
               {"gradients", ""},
               {"optimizer", "optimizer state"}}};
  for (const std::string& name : runtime::numerics_names()) {
    const runtime::Numerics n = runtime::numerics(name);
    table.add_row({name, isa::name_of(n.weight), isa::name_of(n.activation), isa::name_of(n.operand),
                   isa::name_of(n.gradient), isa::name_of(n.optimizer)});
  }
  return table;
}

Table list_passes() {
  Table table{{{"name", ""}, {"on", "on unless a stack or `passes` says otherwise"}, {"text", "what it does"}}};
  const runtime::Passes standard;
  for (const runtime::PassInfo& pass : runtime::kPasses)
    table.add_row({pass.name, standard.*pass.flag ? "yes" : "no", pass.text});
  const frontend::Rewrites all;
  for (const frontend::Rewrite& rewrite : frontend::rewrites())
    table.add_row(
        {rewrite.name, all.*rewrite.flag ? "yes" : "no", fmt::format("of graphs: become {}", rewrite.becomes)});
  return table;
}

Table list_figures() {
  Table table{{{"name", ""}, {"unit", ""}, {"section", "section of result.json"}, {"text", "what it is"}}};
  for (const analysis::Figure& figure : analysis::figure_table())
    table.add_row({figure.name, figure.unit == "1" ? "" : figure.unit, figure.section, figure.text});
  return table;
}

Table list_exporters() {
  Table table{{{"name", "`report_to`"}, {"path", "in the folder of the run"}}};
  for (const analysis::Exporter& exporter : analysis::exporters()) table.add_row({exporter.name, exporter.path});
  return table;
}

constexpr std::array kListings = {Listing{"workloads", list_workloads}, Listing{"models", list_models},
                                  Listing{"machines", list_machines},   Listing{"stacks", list_stacks},
                                  Listing{"numerics", list_numerics},   Listing{"passes", list_passes},
                                  Listing{"isa", isa::reference},       Listing{"ops", list_ops},
                                  Listing{"params", list_params},       Listing{"figures", list_figures},
                                  Listing{"exporters", list_exporters}, Listing{"frontend", list_frontend}};

}  // namespace

std::span<const Listing> listings() { return kListings; }

std::vector<std::string> names_in(std::string_view listing) {
  const auto* const found = std::ranges::find(kListings, listing, &Listing::name);
  base::ensure(found != kListings.end(), listing, "is not a listing");
  std::vector<std::string> names;
  const Table table = found->make();  // the loop below would not keep it
  for (const std::vector<base::Cell>& row : table.cells()) names.push_back(std::get<std::string>(row[0].value));
  return names;
}

}  // namespace trnsim
