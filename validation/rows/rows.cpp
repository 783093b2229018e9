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

namespace analysis {
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
  throw BadCell{fmt::format("'{}' is neither yes, no nor unknown", cell)};
}

double positive(Text cell) {
  const std::optional<double> value = number(cell);
  if (!value || *value <= 0) throw BadCell{fmt::format("'{}' is not a positive number", cell)};
  return *value;
}

/// A column of a schema: the only list of its fields. `vital`: without it there is nothing to compare with.
struct Column {
  std::string_view name;
  void (*set)(Row&, Text);
  bool vital = false;
};
TrainingRow& training(Row& row) { return std::get<TrainingRow>(row.job); }
MicroRow& micro(Row& row) { return std::get<MicroRow>(row.job); }

constexpr std::array kTraining = {
    Column{"id", [](Row& r, Text c) { r.id = c; }},
    Column{"kind", [](Row& r, Text c) { r.kind = c; }},
    Column{"model", [](Row& r, Text c) { training(r).model = c; }},
    Column{"layers", [](Row& r, Text c) { training(r).layers = count(c); }},
    Column{"hidden", [](Row& r, Text c) { training(r).hidden = count(c); }},
    Column{"heads", [](Row& r, Text c) { training(r).heads = count(c); }},
    Column{"kv_heads", [](Row& r, Text c) { training(r).kv_heads = count(c); }},
    Column{"ffn", [](Row& r, Text c) { training(r).ffn = count(c); }},
    Column{"vocab", [](Row& r, Text c) { training(r).vocab = count(c); }},
    Column{"seq_len", [](Row& r, Text c) { training(r).seq_len = count(c); }},
    Column{"instance", [](Row& r, Text c) { training(r).instance = c; }},
    Column{"nodes", [](Row& r, Text c) { training(r).nodes = count(c); }},
    Column{"cores", [](Row& r, Text c) { training(r).cores = count(c); }},
    Column{"dp", [](Row& r, Text c) { training(r).dp = count(c); }},
    Column{"tp", [](Row& r, Text c) { training(r).tp = count(c); }},
    Column{"pp", [](Row& r, Text c) { training(r).pp = count(c); }},
    Column{"zero1", [](Row& r, Text c) { training(r).zero1 = known(c); }},
    Column{"seq_parallel", [](Row& r, Text c) { training(r).seq_parallel = known(c); }},
    Column{"recompute", [](Row& r, Text c) { training(r).recompute = c.empty() ? "unknown" : c; }},
    Column{"micro_batch", [](Row& r, Text c) { training(r).micro_batch = count(c); }},
    Column{"grad_accum", [](Row& r, Text c) { training(r).grad_accum = count(c); }},
    Column{"weights", [](Row& r, Text c) { training(r).weights = c; }},
    Column{"optimizer_state", [](Row& r, Text c) { training(r).optimizer_state = c; }},
    Column{"optimizer", [](Row& r, Text c) { training(r).optimizer = c; }},
    Column{"stack", [](Row& r, Text c) { training(r).stack = c; }},
    Column{"metric", [](Row& r, Text c) { r.metric = c; }},
    Column{"value", [](Row& r, Text c) { r.published = positive(c); }, true},
    Column{"low", [](Row& r, Text c) { r.low = positive(c); }, true},
    Column{"high", [](Row& r, Text c) { r.high = positive(c); }, true},
    Column{"releases", [](Row& r, Text c) { training(r).releases = count(c); }},
    Column{"source", [](Row& r, Text c) { r.source = c; }},
    Column{"notes", [](Row& r, Text c) { r.notes = c; }},
};

constexpr std::array kMicro = {
    Column{"id", [](Row& r, Text c) { r.id = c; }},
    Column{"kind", [](Row& r, Text c) { r.kind = c; }},
    Column{"what", [](Row& r, Text c) { micro(r).what = c; }},
    Column{"shape", [](Row& r, Text c) { micro(r).shape = c; }},
    Column{"dtype", [](Row& r, Text c) { micro(r).dtype = c; }},
    Column{"cores", [](Row& r, Text c) { micro(r).cores = count(c); }},
    Column{"instance", [](Row& r, Text c) { micro(r).instance = c; }},
    Column{"value", [](Row& r, Text c) { r.published = r.low = r.high = positive(c); }, true},
    Column{"unit", [](Row& r, Text c) { r.metric = c; }},
    Column{"source", [](Row& r, Text c) { r.source = c; }},
    Column{"notes", [](Row& r, Text c) { r.notes = c; }},
};

/// Memory of a core: a training job, and what it holds.
constexpr std::array kMemory = {
    Column{"id", [](Row& r, Text c) { r.id = c; }},
    Column{"kind", [](Row& r, Text c) { r.kind = c == "memory" ? "device memory" : c; }},  // not a rate of HBM
    Column{"model", [](Row& r, Text c) { training(r).model = c; }},
    Column{"layers", [](Row& r, Text c) { training(r).layers = count(c); }},
    Column{"hidden", [](Row& r, Text c) { training(r).hidden = count(c); }},
    Column{"heads", [](Row& r, Text c) { training(r).heads = count(c); }},
    Column{"kv_heads", [](Row& r, Text c) { training(r).kv_heads = count(c); }},
    Column{"ffn", [](Row& r, Text c) { training(r).ffn = count(c); }},
    Column{"vocab", [](Row& r, Text c) { training(r).vocab = count(c); }},
    Column{"seq_len", [](Row& r, Text c) { training(r).seq_len = count(c); }},
    Column{"instance", [](Row& r, Text c) { training(r).instance = c; }},
    Column{"cores", [](Row& r, Text c) { training(r).cores = count(c); }},
    Column{"tp", [](Row& r, Text c) { training(r).tp = count(c); }},
    Column{"dp", [](Row& r, Text c) { training(r).dp = count(c); }},
    Column{"recompute", [](Row& r, Text c) { training(r).recompute = c.empty() ? "unknown" : c; }},
    Column{"micro_batch", [](Row& r, Text c) { training(r).micro_batch = count(c); }},
    Column{"grad_accum", [](Row& r, Text c) { training(r).grad_accum = count(c); }},
    Column{"weights", [](Row& r, Text c) { training(r).weights = c; }},
    Column{"optimizer", [](Row& r, Text c) { training(r).optimizer = c; }},
    Column{"lora_rank", [](Row& r, Text c) { training(r).lora_rank = count(c); }},
    Column{"metric", [](Row& r, Text c) { r.metric = c; }},
    Column{"value", [](Row& r, Text c) { r.published = r.low = r.high = positive(c); }, true},
    Column{"unit", [](Row&, Text) {}},  // GiB; receipts that say GB count 2^30, as the weights alone show
    Column{"verdict", [](Row& r, Text c) { training(r).verdict = c; }},
    Column{"source", [](Row& r, Text c) { r.source = c; }},
    Column{"notes", [](Row& r, Text c) { r.notes = c; }},
};

constexpr std::array kCompile = {
    Column{"id", [](Row& r, Text c) { r.id = c; }},
    Column{"kind", [](Row& r, Text c) { r.kind = c; }},
    Column{"what", [](Row& r, Text c) { micro(r).what = c; }},
    Column{"seq_len", [](Row& r, Text c) { micro(r).seq_len = count(c); }},
    Column{"cores", [](Row& r, Text c) { micro(r).cores = count(c); }},
    Column{"instance", [](Row& r, Text c) { micro(r).instance = c; }},
    Column{"cold", [](Row& r, Text c) { micro(r).cold = known(c); }},
    Column{"value", [](Row& r, Text c) { r.published = r.low = r.high = positive(c); }, true},
    Column{"unit", [](Row& r, Text c) { r.metric = c; }},
    Column{"source", [](Row& r, Text c) { r.source = c; }},
    Column{"notes", [](Row& r, Text c) { r.notes = c; }},
};

/// A table's form, by a column that no form before it has.
struct Schema {
  std::string_view sign;
  std::span<const Column> columns;
  bool of_jobs = false;  // rows are TrainingRows
};
constexpr std::array kSchemas = {Schema{"verdict", kMemory, true}, Schema{"cold", kCompile},
                                 Schema{"metric", kTraining, true}, Schema{"id", kMicro}};

const Schema& schema_of(const base::CsvTable& table) {
  const auto has = [&](const Schema& s) { return std::ranges::find(table.header, s.sign) != table.header.end(); };
  const auto found = std::ranges::find_if(kSchemas, has);
  return found == kSchemas.end() ? kSchemas.back() : *found;
}

std::vector<std::string> names(std::span<const Column> columns) {
  std::vector<std::string> list;
  for (const Column& column : columns) list.emplace_back(column.name);
  return list;
}

/// The columns in the order of the table's header.
std::vector<const Column*> match_header(const base::CsvTable& table, std::span<const Column> schema) {
  std::vector<const Column*> order;
  const std::string where = table.path + ":1";
  for (Text name : table.header) {
    const auto found = std::ranges::find(schema, name, &Column::name);
    if (found == schema.end()) {
      throw Error{Fault::kData, where, fmt::format("unknown column '{}'", name),
                  base::suggest_fix(name, names(schema))};
    }
    if (std::ranges::find(order, &*found) != order.end()) {
      throw Error{Fault::kData, where, fmt::format("column '{}' is there twice", name), "name each column once"};
    }
    order.push_back(&*found);
  }
  for (const Column& column : schema) {
    if (std::ranges::find(order, &column) != order.end()) continue;
    throw Error{Fault::kData, where, fmt::format("column '{}' is missing", column.name),
                fmt::format("use the columns {}", fmt::join(names(schema), ","))};
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
  return row;
}

std::vector<Row> to_rows(const base::CsvTable& table) {
  const Schema& schema = schema_of(table);
  const auto order = match_header(table, schema.columns);
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const base::CsvRecord& record : table.records) {
    rows.push_back(read_row(table, record, order, schema.of_jobs));
    if (rows.back().id.empty() || !seen.insert(rows.back().id).second) {
      throw Error{Fault::kData, table.where(record), fmt::format("id '{}' is empty or there twice", rows.back().id),
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

}  // namespace analysis
