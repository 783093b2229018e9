// `trnsim list WHAT`: printed from the tables themselves.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/table.h"
#include "cli/machine.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "isa/names.h"
#include "isa/table.h"

namespace cli {
namespace {

using base::Table;

std::string engines_of(const isa::Row& row) {
  std::string text;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const auto engine = static_cast<isa::Engine>(e);
    if (!row.engines.contains(engine)) continue;
    if (!text.empty()) text += ' ';
    text += isa::name_of(engine);
  }
  return text.empty() ? "none" : text;
}

Table list_isa() {
  Table table{{{"name", ""},
               {"engines", ""},
               {"cost", "cost (cycles of the engine)"},
               {"limits", ""},
               {"source", ""},
               {"note", ""}}};
  for (std::size_t op = 0; op < isa::kOpcodeCount; ++op) {
    const isa::Row& row = isa::row(static_cast<isa::Opcode>(op));
    table.add_row({row.name, engines_of(row), row.formula, row.limits, row.source, row.note});
  }
  return table;
}

Table list_machines() {
  Table table{{{"name", ""}, {"file", ""}}};
  for (const std::string& name : machine_names())
    table.add_row({name, base::data_path("hw/params/" + name + ".toml").string()});
  return table;
}

Table list_params() {
  const base::ParamFile file = load_machine("trn1.2xlarge", {});
  Table table{{{"key", ""}, {"value", "value on trn1.2xlarge"}, {"text", ""}}};
  for (const std::string& key : file.keys()) {
    const base::Parameter& p = file.parameter(key);
    table.add_row({p.key, p.values.empty() ? "" : p.values.front(), p.text});
  }
  return table;
}

struct Listing {
  std::string_view name;
  Table (*make)();
};
constexpr std::array kListings = {Listing{"isa", list_isa}, Listing{"machines", list_machines},
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
  app.add_option("WHAT", *what, "what to list")->type_name(choices())->required();
  app.add_option("--format", *format, "form of the table")->type_name("table|json|csv|md")->capture_default_str();
  app.final_callback([what, format] {
    require_choice("list", *what, choices());
    const base::Format form = base::parse_format(*format);
    for (const Listing& listing : kListings) {
      if (listing.name == *what) print(listing.make().render(form));
    }
  });
}

}  // namespace cli
