// `trnsim stats RUN`: the figures of a run, or its time in groups.
#include <memory>

#include "analysis/profile/views.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct StatsOptions {
  std::string run, by, format = "table";
  std::int64_t stage = -1;
  std::size_t limit = 0;
};

void stats(const StatsOptions& options) {
  const base::Format format = base::parse_format(options.format);
  const analysis::Record record = analysis::read_record(options.run, options.stage);
  const base::Table table =
      options.by.empty() ? summary_table(record) : analysis::table_by(options.by, record, options.limit);
  print(table.render(format, columns()));
}

}  // namespace

void add_stats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  app.add_option("RUN", options->run, "folder of a run")->required();
  app.add_option("--by", options->by, "group the time; without it: the summary")
      ->type_name("op|part|source|layer|engine|opcode|phase|block|collective");
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0 [the slowest]")->check(CLI::NonNegativeNumber);
  app.add_option("--limit", options->limit, "rows at most, 0: all")->capture_default_str();
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { stats(*options); });
}

}  // namespace cli
