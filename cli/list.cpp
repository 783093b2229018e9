// `trnsim list WHAT`: printed from the registries themselves.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/table.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/job/listing.h"
#include "trnsim/job/option_table.h"

namespace cli {
namespace {

std::string choices() {
  std::string text;
  for (const trnsim::Listing& listing : trnsim::listings())
    text += fmt::format("{}{}", text.empty() ? "" : "|", listing.name);
  return text;
}

}  // namespace

void add_list(CLI::App& app) {
  auto what = std::make_shared<std::string>();
  auto format = std::make_shared<std::string>("table");
  app.add_option("WHAT", *what, "what to list")->type_name(choices());
  app.add_option("--format", *format, "form of the table")->type_name("table|json|csv|md")->capture_default_str();
  auto frontend = std::make_shared<std::string>();
  app.add_option("--frontend", *frontend, "with ops: the operators of StableHLO and HLO, or PyTorch's (aten)")
      ->expected(0, 1)
      ->default_str("stablehlo")
      ->type_name("stablehlo|aten");
  app.final_callback([what, format, frontend] {
    if (what->empty())
      throw base::Error{base::Fault::kUsage, "trnsim list", "does not say what to list", "choose one of " + choices()};
    trnsim::require_choice("trnsim list", *what, choices());
    const base::Format form = base::parse_format(*format);
    if (!frontend->empty() && *what != "ops" && *what != "frontend")
      throw base::Error{base::Fault::kUsage, "--frontend", "applies only to the list of operators",
                        "use it with: trnsim list ops"};
    if (!frontend->empty()) trnsim::require_choice("--frontend", *frontend, "stablehlo|aten");
    if (*frontend == "aten") exec_python("trnsim.torch._list", "trnsim list ops", {"--format", *format});
    const std::string_view wanted = frontend->empty() ? std::string_view{*what} : "frontend";
    for (const trnsim::Listing& listing : trnsim::listings())
      if (listing.name == wanted) print(flags_in(listing.make().render(form, columns())));
  });
}

}  // namespace cli
