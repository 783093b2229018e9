#include "validation/rows/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>

#include "base/csv.h"
#include "base/error.h"
#include "base/suggest.h"

namespace validation {
namespace {

using base::Error;
using base::Fault;
using Text = const std::string&;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A cell refused by its column; load_validation() turns it into Row::defect.
struct BadCell {
  std::string why;
};

std::optional<int> count(Text cell) {
  if (cell.empty() || cell == "unknown" || cell == "-") return std::nullopt;
  const std::optional<double> value = number(cell);
  if (!value || *value < 0 || *value > 1e9 || *value != std::floor(*value)) {
    throw BadCell{fmt::format("'{}' is not an integer", cell)};
  }
  return static_cast<int>(*value);
}

Known known(Text cell) {
  if (cell == "yes") return Known::kYes;
  if (cell == "no") return Known::kNo;
  if (cell.empty() || cell == "unknown") return Known::kUnknown;
  throw BadCell{fmt::format("'{}' is not yes, no or unknown", cell)};
}

std::string one_of(Text cell, std::initializer_list<std::string_view> choices) {
  if (std::ranges::find(choices, cell) != choices.end()) return cell;
  throw BadCell{fmt::format("'{}' is not one of {}", cell, fmt::join(choices.begin() + 1, choices.end(), ", "))};
}

/// A cell of settings alone, with these keys.
Words settings(Text cell, std::string_view keys) {
  Words words = parse_words(cell);
  if (!words.name.empty()) throw BadCell{fmt::format("'{}' is not KEY=VALUE", words.name)};
  if (const std::string other = words.unknown(keys); !other.empty())
    throw BadCell{fmt::format("'{}' is not one of {}", other, keys)};
  return words;
}

double positive(Text cell) {
  const std::optional<double> value = number(cell);
  if (!value || *value <= 0) throw BadCell{fmt::format("'{}' is not a positive number", cell)};
  return *value;
}

/// Tables of these forms need a column; kMaybe: any table of such rows may have it.
enum Form : std::uint8_t { kMaybe = 0, kTraining = 1, kMemory = 2, kMicro = 4, kCompile = 8 };
constexpr auto kJobs = static_cast<Form>(kTraining | kMemory), kAll = static_cast<Form>(kMicro | kCompile);

/// A column: the only list of its fields. `vital`: without it there is nothing to compare with.
struct Column {
  std::string_view name;
  void (*set)(Row&, Text);
  Form needed = kMaybe;
  bool vital = false;
};
TrainingRow& job(Row& row) { return std::get<TrainingRow>(row.job); }
MicroRow& micro(Row& row) { return std::get<MicroRow>(row.job); }

constexpr std::array kJobColumns = {
    Column{"id", [](Row& r, Text c) { r.id = c; }, kJobs},
    Column{"kind", [](Row& r, Text c) { r.kind = c == "memory" ? "device memory" : c; }, kJobs},  // not a rate of HBM
    Column{"model", [](Row& r, Text c) { job(r).model = c; }, kJobs},
    Column{"like", [](Row& r, Text c) { job(r).like = c; }},
    Column{"layers", [](Row& r, Text c) { job(r).layers = count(c); }, kJobs},
    Column{"hidden", [](Row& r, Text c) { job(r).hidden = count(c); }, kJobs},
    Column{"heads", [](Row& r, Text c) { job(r).heads = count(c); }, kJobs},
    Column{"kv_heads", [](Row& r, Text c) { job(r).kv_heads = count(c); }, kJobs},
    Column{"ffn", [](Row& r, Text c) { job(r).ffn = count(c); }, kJobs},
    Column{"vocab", [](Row& r, Text c) { job(r).vocab = count(c); }, kJobs},
    Column{"image", [](Row& r, Text c) { job(r).image = count(c); }},
    Column{"patch", [](Row& r, Text c) { job(r).patch = count(c); }},
    Column{"channels", [](Row& r, Text c) { job(r).channels = count(c); }},
    Column{"labels", [](Row& r, Text c) { job(r).labels = count(c); }},
    Column{"tied", [](Row& r, Text c) { job(r).tied = known(c); }},
    Column{"dropout", [](Row& r, Text c) { job(r).dropout = known(c); }},
    Column{"causal", [](Row& r, Text c) { job(r).causal = known(c); }},
    Column{"block", [](Row& r, Text c) { job(r).block = c; }},
    Column{"head",
           [](Row& r, Text c) {
             job(r).head = one_of(c, {"", "classifier", "tokens", "pretraining", "masked"});
           }},
    Column{"lora", [](Row& r, Text c) { job(r).lora = settings(c, "rank alpha dropout layers"); }},
    Column{"seq_len", [](Row& r, Text c) { job(r).seq_len = count(c); }, kJobs},
    Column{"instance", [](Row& r, Text c) { job(r).instance = c; }, kJobs},
    Column{"nodes", [](Row& r, Text c) { job(r).nodes = count(c); }, kTraining},
    Column{"cores", [](Row& r, Text c) { job(r).cores = count(c); }, kJobs},
    Column{"dp", [](Row& r, Text c) { job(r).dp = count(c); }, kJobs},
    Column{"tp", [](Row& r, Text c) { job(r).tp = count(c); }, kJobs},
    Column{"pp", [](Row& r, Text c) { job(r).pp = count(c); }, kTraining},
    Column{"zero1", [](Row& r, Text c) { job(r).zero1 = known(c); }, kTraining},
    Column{"seq_parallel", [](Row& r, Text c) { job(r).seq_parallel = known(c); }, kTraining},
    Column{"recompute", [](Row& r, Text c) { job(r).recompute = c.empty() ? "unknown" : c; }, kJobs},
    Column{"micro_batch", [](Row& r, Text c) { job(r).micro_batch = count(c); }, kJobs},
    Column{"grad_accum", [](Row& r, Text c) { job(r).grad_accum = count(c); }, kJobs},
    Column{"weights", [](Row& r, Text c) { job(r).weights = c; }, kJobs},
    Column{"optimizer_state", [](Row& r, Text c) { job(r).optimizer_state = c; }, kTraining},
    Column{"optimizer", [](Row& r, Text c) { job(r).optimizer = c; }, kJobs},
    Column{"lora_rank", [](Row& r, Text c) { job(r).lora_rank = count(c); }, kMemory},
    Column{"stack", [](Row& r, Text c) { job(r).stack = c; }, kTraining},
    Column{"release", [](Row& r, Text c) { job(r).release = c; }},
    Column{"timing", [](Row& r, Text c) { job(r).timing = one_of(c, {"", "steps", "trial", "logged"}); }},
    Column{"samples", [](Row& r, Text c) { job(r).samples = count(c); }},
    Column{"epochs", [](Row& r, Text c) { job(r).epochs = count(c); }},
    Column{"steps", [](Row& r, Text c) { job(r).steps = count(c); }},
    Column{"eval_samples", [](Row& r, Text c) { job(r).eval_samples = count(c); }},
    Column{"tokens", [](Row& r, Text c) { job(r).tokens = count(c); }},
    Column{"prompt_tokens", [](Row& r, Text c) { job(r).prompt_tokens = count(c); }},
    Column{"prompt_bucket", [](Row& r, Text c) { job(r).prompt_bucket = count(c); }},
    Column{"new_tokens", [](Row& r, Text c) { job(r).new_tokens = count(c); }},
    Column{"at_once", [](Row& r, Text c) { job(r).at_once = count(c); }},
    Column{"draft", [](Row& r, Text c) { job(r).draft = c; }},
    Column{"metric", [](Row& r, Text c) { r.metric = c; }, kJobs},
    Column{"value", [](Row& r, Text c) { r.published = positive(c); }, kJobs, true},
    Column{"low", [](Row& r, Text c) { r.low = positive(c); }, kTraining, true},
    Column{"high", [](Row& r, Text c) { r.high = positive(c); }, kTraining, true},
    Column{"unit", [](Row&, Text) {}, kMemory},  // GiB; receipts that say GB count 2^30, as the weights alone show
    Column{"releases", [](Row& r, Text c) { job(r).releases = count(c); }, kTraining},
    Column{"verdict", [](Row& r, Text c) { job(r).verdict = c; }, kMemory},
    Column{"untold", [](Row& r, Text c) { r.untold = known(c) == Known::kYes; }},
    Column{"assumed", [](Row& r, Text c) { r.assumed = c; }},
    Column{"publisher", [](Row& r, Text c) { r.publisher = c; }},
    Column{"source", [](Row&, Text) {}, kJobs},
    Column{"notes", [](Row&, Text) {}, kJobs},
};

constexpr std::array kMicroColumns = {
    Column{"id", [](Row& r, Text c) { r.id = c; }, kAll},
    Column{"kind", [](Row& r, Text c) { r.kind = c; }, kAll},
    Column{"what", [](Row& r, Text c) { micro(r).what = c; }, kAll},
    Column{"kernel", [](Row& r, Text c) { micro(r).kernel = parse_words(c); }},
    Column{"graph", [](Row& r, Text c) { micro(r).kernel = parse_words(c); }},
    Column{"shape", [](Row& r, Text c) { micro(r).shape = c; }, kMicro},
    Column{"dtype", [](Row& r, Text c) { micro(r).dtype = c; }, kMicro},
    Column{"seq_len", [](Row& r, Text c) { micro(r).seq_len = count(c); }, kCompile},
    Column{"cores", [](Row& r, Text c) { micro(r).cores = count(c); }, kAll},
    Column{"instance", [](Row& r, Text c) { micro(r).instance = c; }, kAll},
    Column{"cold", [](Row& r, Text c) { micro(r).cold = known(c); }, kCompile},
    Column{"value", [](Row& r, Text c) { r.published = positive(c); }, kAll, true},
    Column{"unit", [](Row& r, Text c) { r.metric = c; }, kAll},
    Column{"untold", [](Row& r, Text c) { r.untold = known(c) == Known::kYes; }},
    Column{"assumed", [](Row& r, Text c) { r.assumed = c; }},
    Column{"publisher", [](Row& r, Text c) { r.publisher = c; }},
    Column{"source", [](Row&, Text) {}, kAll},
    Column{"notes", [](Row&, Text) {}, kAll},
};

/// A table's form, by a column that no form before it has.
struct Schema {
  std::string_view sign;
  Form form;
  std::span<const Column> columns;
  bool of_jobs = false;  // rows are TrainingRows
};
constexpr std::array kSchemas = {Schema{"verdict", kMemory, kJobColumns, true}, Schema{"cold", kCompile, kMicroColumns},
                                 Schema{"metric", kTraining, kJobColumns, true}, Schema{"id", kMicro, kMicroColumns}};

const Schema& schema_of(const base::CsvTable& table) {
  const auto has = [&](const Schema& s) { return std::ranges::find(table.header, s.sign) != table.header.end(); };
  const auto found = std::ranges::find_if(kSchemas, has);
  return found == kSchemas.end() ? kSchemas.back() : *found;
}

std::vector<std::string> names(const Schema& schema, bool all) {
  std::vector<std::string> list;
  for (const Column& column : schema.columns)
    if (all || (column.needed & schema.form) != 0) list.emplace_back(column.name);
  return list;
}

/// The columns in the order of the table's header.
std::vector<const Column*> match_header(const base::CsvTable& table, const Schema& schema) {
  std::vector<const Column*> order;
  const std::string where = table.path + ":1";
  for (Text name : table.header) {
    const auto found = std::ranges::find(schema.columns, name, &Column::name);
    if (found == schema.columns.end()) {
      throw Error{Fault::kData, where, fmt::format("unknown column '{}'", name),
                  base::suggest_fix(name, names(schema, true))};
    }
    if (std::ranges::find(order, &*found) != order.end()) {
      throw Error{Fault::kData, where, fmt::format("column '{}' appears twice", name), "name each column once"};
    }
    order.push_back(&*found);
  }
  for (const std::string& name : names(schema, false)) {
    if (std::ranges::find(table.header, name) != table.header.end()) continue;
    throw Error{Fault::kData, where, fmt::format("column '{}' is missing", name),
                fmt::format("use the columns {}", fmt::join(names(schema, false), ","))};
  }
  return order;
}

Row read_row(const base::CsvTable& table, const base::CsvRecord& record, const std::vector<const Column*>& order,
             bool is_training) {
  Row row;
  row.line = record.line;
  if (!is_training) row.job = MicroRow{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    try {
      order[i]->set(row, record.cells[i]);
    } catch (const BadCell& bad) {
      if (order[i]->vital) {
        throw Error{Fault::kData, table.where(record), fmt::format("{}: {}", order[i]->name, bad.why),
                    "give the published figure in the row's metric"};
      }
      row.defect = fmt::format("line {}: {}: {}", record.line, order[i]->name, bad.why);
    }
  }
  if (row.low == 0) row.low = row.high = row.published;
  return row;
}

std::vector<Row> to_rows(const base::CsvTable& table) {
  const Schema& schema = schema_of(table);
  const auto order = match_header(table, schema);
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const base::CsvRecord& record : table.records) {
    rows.push_back(read_row(table, record, order, schema.of_jobs));
    if (rows.back().id.empty() || !seen.insert(rows.back().id).second) {
      throw Error{Fault::kData, table.where(record), fmt::format("id '{}' is empty or appears twice", rows.back().id),
                  "give every row its own id"};
    }
  }
  return rows;
}

}  // namespace

std::vector<Row> load_validation(const std::filesystem::path& path) { return to_rows(base::read_csv(path)); }

std::vector<Row> parse_validation(std::string_view text, std::string name) {
  return to_rows(base::parse_csv(text, std::move(name)));
}

}  // namespace validation
