// `trnsim version`.
#include "trnsim/version.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {

using namespace trnsim;

void add_version(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "as a JSON object");
  app.final_callback([as_json] {
    const nlohmann::ordered_json facts = {{"name", "trnsim"},
                                          {"version", trnsim::version()},
                                          {"result_schema", analysis::kResultSchema},
                                          {"compiler", trnsim::build_facts().compiler},
                                          {"build_type", trnsim::build_facts().type},
                                          {"cpp_standard", __cplusplus}};
    if (*as_json) return print(facts.dump(2) + "\n");
    for (const auto& [key, value] : facts.items()) {
      print(fmt::format("{:<14} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  });
}

}  // namespace cli
