// `trnsim list WHAT`: printed from the tables themselves.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "hw/params.h"
#include "isa/reference.h"
#include "runtime/ops.h"
#include "trnsim/option_table.h"
#include "workloads/job.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Table;

Table list_machines() {
  Table table{{{"name", ""}, {"file", ""}}};
  for (const std::string& name : hw::machine_names())
    table.add_row({name, base::data_path("hw/params/" + name + ".toml").string()});
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
  const auto form = [](const runtime::Op& op) {
    if (op.lower_columns) return "elements";
    return op.lower_rows ? "rows" : "whole";
  };
  Table table{{{"name", "operator"},
               {"form", "is lowered by"},
               {"gradient", "has a gradient"},
               {"matmul_flops", "counts matmul FLOPs"},
               {"text", "computes"}}};
  const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
  for (const runtime::Op* op : runtime::all_ops())
    table.add_row(
        {op->name, form(*op), yes_no(op->backward != nullptr), yes_no(op->matmul_flops != nullptr), op->text});
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
  for (const std::string& name : workloads::job_names()) {
    const workloads::Job job = workloads::load_job(name);
    table.add_row({name, job.text, job.model, job.small_model, job.samples, job.eval_samples, job.file});
  }
  return table;
}

struct Listing {
  std::string_view name;
  Table (*make)();
};
constexpr std::array kListings = {Listing{"isa", isa::reference}, Listing{"ops", list_ops},
                                  Listing{"workloads", list_workloads}, Listing{"machines", list_machines},
                                  Listing{"params", list_params}};

std::string choices() {
  std::string text;
  for (const Listing& listing : kListings) text += fmt::format("{}{}", text.empty() ? "" : "|", listing.name);
  return text;
}

}  // namespace

void add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  auto format = std::make_shared<std::string>("table");
  app.add_option("WHAT", *what, "what to list")->type_name(choices());
  app.add_option("--format", *format, "form of the table")->type_name("table|json|csv|md")->capture_default_str();
  app.final_callback([what, format] {
    if (what->empty())
      throw base::Error{base::Fault::kUsage, "trnsim list", "what should be listed?", "choose one of " + choices()};
    require_choice("trnsim list", *what, choices());
    const base::Format form = base::parse_format(*format);
    for (const Listing& listing : kListings) {
      if (listing.name == *what) print(listing.make().render(form));
    }
  });
}

}  // namespace cli
