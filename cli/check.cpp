// `trnsim check` and `trnsim explain`: will the real machine take it.
#include "trnsim/check/check.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/table.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/check/codes.h"
#include "trnsim/graphs/graph_model.h"

namespace cli {
namespace {

using trnsim::CheckResult;
using trnsim::Concern;

struct CheckOptions {
  trnsim::Settings settings;
  std::vector<std::string> targets;
  bool strict = false;
};

std::vector<CheckResult> results_of(const CheckOptions& options) {
  std::vector<CheckResult> out;
  for (const std::string& target : options.targets) {
    if (std::filesystem::is_directory(target) && !workloads::names_workload(target)) {
      for (CheckResult& one : trnsim::check_folder(target, options.settings)) out.push_back(std::move(one));
    } else if (trnsim::is_graph_file(target)) {
      out.push_back(trnsim::check_file(target, options.settings));
    } else {
      out.push_back(trnsim::check_workload(workloads::load_workload(target), options.settings));
    }
  }
  return out;
}

nlohmann::ordered_json json_of(const std::vector<CheckResult>& results) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CheckResult& result : results) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const trnsim::Finding& f : result.findings)
      findings.push_back({{"topic", f.topic},
                          {"verdict", name_of(f.concern)},
                          {"code", f.code},
                          {"evidence", f.text},
                          {"fix", f.fix}});
    all.push_back({{"target", result.target}, {"verdict", name_of(result.worst())}, {"findings", findings}});
  }
  return all;
}

void check(const CheckOptions& options) {
  const std::vector<CheckResult> results = results_of(options);
  const base::Format form = base::parse_format(options.settings.output.format);
  print(form == base::Format::kJson ? json_of(results).dump(2) + "\n" : table_of(results).render(form, columns()));
  flush();
  const Concern least = options.strict ? Concern::kRisk : Concern::kFails;
  for (const CheckResult& result : results)
    for (const trnsim::Finding& f : result.findings)
      if (f.concern >= least)
        throw base::Error{base::Fault::kCheck, result.target, fmt::format("{}: {}", f.topic, f.text),
                          f.fix.empty() ? "see the table above" : f.fix};
}

void explain(const std::vector<std::string>& names, const std::string& format) {
  base::Table table{{{"code", ""}, {"means", ""}, {"fix", ""}}};
  std::vector<trnsim::CodeText> codes;
  for (const std::string& name : names) codes.push_back(trnsim::compiler_code(name));
  if (names.empty()) codes = trnsim::compiler_codes();
  for (const trnsim::CodeText& one : codes) table.add_row({one.code, one.what, one.fix});
  print(table.render(base::parse_format(format), columns()));
}

}  // namespace

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("TARGET", options->targets,
                 "a program (.hlo, .pb, .mlir), a folder of the compile cache, or a workload")
      ->required();
  app.add_flag("--fail_on_risk,--fail-on-risk", options->strict, "exit 1 for risks too");
  act_with_settings(app, "check", options, check);
}

void add_explain(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto format = std::make_shared<std::string>("table");
  app.add_option("CODE", *names, "a code of the compiler, with or without NCC_; none: all");
  app.add_option("--format", *format, "table, json, csv or md");
  app.final_callback([names, format] { explain(*names, *format); });
}

}  // namespace cli
