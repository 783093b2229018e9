#include "cli/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "trnsim/generation.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/memory.h"

namespace cli {
namespace {

using base::Cell;
using base::Error;
using base::Fault;
using trnsim::Served;

std::int64_t size_in(std::string_view text, const std::string& all) {
  constexpr std::int64_t kMost = 1 << 20;
  std::int64_t size = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (problem != std::errc{} || end != text.data() + text.size() || size < 1 || size > kMost)
    throw Error{Fault::kUsage, "--batch_size", fmt::format("'{}' is not a batch size in '{}'", text, all),
                "write one number, several with commas (1,8,32), or a range of doublings (1..64)"};
  return size;
}

base::Table table_of(const std::vector<Served>& served, bool writes) {
  std::vector<base::Column> columns{{"batch_size", "batch"}, {"latency_seconds", "latency"}};
  if (writes) columns.push_back({"time_to_first_token_seconds", "first"});
  for (const base::Column& more : std::initializer_list<base::Column>{{"requests_per_second", "requests/s"},
                                                                      {"instance_tokens_per_second", "tokens/s"},
                                                                      {"dollars_per_million_requests", "$/M req"},
                                                                      {"dollars_per_million_tokens", "$/M tok"},
                                                                      {"hbm_bytes", "HBM"}})
    columns.push_back(more);
  base::Table table{columns};
  for (const Served& one : served) {
    std::vector<Cell> cells{one.job.step.plan.micro_batch};
    if (one.fits())
      cells.push_back(time_cell(one.latency));
    else
      cells.emplace_back("too large");
    if (writes) cells.push_back(one.fits() ? time_cell(one.first_token) : Cell{});
    cells.push_back(one.fits() ? Cell{one.requests, short_number(one.requests)} : Cell{});
    cells.push_back(one.fits() ? Cell{one.tokens, short_number(one.tokens)} : Cell{});
    cells.push_back(one.fits() ? money_cell(one.dollars) : Cell{});
    cells.push_back(one.fits() ? money_cell(one.token_dollars) : Cell{});
    cells.push_back(bytes_cell(one.memory.total));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string answer_of(const std::vector<Served>& served, const Requests& requests, bool writes) {
  const double within = seconds_in(requests.within);
  const auto text = [&](const std::string& name, const Served& one) {
    return paragraph(fmt::format("{}batch {}: {} until {}, {} requests/s of the instance{}", name,
                                 one.job.step.plan.micro_batch, base::readable(one.latency, base::Dimension::kTime),
                                 writes ? "the last token" : "the answers", short_number(one.requests),
                                 one.dollars ? ", " + dollars_text(one) : ""));
  };
  const auto latency = [](const Served& one) {
    return one.fits() ? one.latency : std::numeric_limits<double>::infinity();
  };
  const auto soonest = std::ranges::min_element(served, {}, latency);
  const Served* cheapest = trnsim::most_within(served, 0);
  const bool same = cheapest == &*soonest;
  const std::string limit = "in " + base::readable(within, base::Dimension::kTime);
  const std::size_t width = same ? 22 : std::max<std::size_t>(within > 0 ? limit.size() + 2 : 0, 11);
  const auto label = [&](std::string_view name) { return fmt::format("{:<{}}", name, width); };
  std::string out = same ? text(label("soonest and cheapest"), *soonest)
                         : text(label("soonest"), *soonest) + text(label("cheapest"), *cheapest);
  if (within <= 0) return out;
  const Served* best = trnsim::most_within(served, within);
  return out + (best ? text(label(limit), *best) : paragraph(label(limit) + "no batch is answered that soon"));
}

nlohmann::ordered_json json_of(const std::string& model, const std::vector<Served>& served, const Requests& requests,
                               const base::Table& table) {
  const Served* best = trnsim::most_within(served, seconds_in(requests.within));
  nlohmann::ordered_json out{{"model", model},
                             {"instance_type", served.front().job.machine.name},
                             {"plan", describe(served.front().job)},
                             {"batches", nlohmann::ordered_json::parse(table.render(base::Format::kJson))}};
  const trnsim::Job& job = served.front().job;
  if (trnsim::writes_text(*job.model)) out["prompt_bucket"] = prompt_bucket(job);
  if (const std::string padding = padding_text(job); !padding.empty()) out["padding"] = padding;
  out["best_batch_size"] = best ? nlohmann::ordered_json(best->job.step.plan.micro_batch) : nullptr;
  return analysis::with_schema(out);
}

}  // namespace

std::string short_number(double value) {
  const double magnitude = std::abs(value);
  return magnitude >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, magnitude >= 1 ? 4 : 3);
}

base::Cell time_cell(double seconds) { return {seconds, base::readable(seconds, base::Dimension::kTime)}; }

base::Cell money_cell(const std::optional<double>& dollars) {
  return dollars ? Cell{*dollars, base::money_text(*dollars)} : Cell{"no price"};
}

base::Cell bytes_cell(std::uint64_t bytes) {
  const auto count = static_cast<double>(bytes);
  return {count, base::readable(count, base::Dimension::kBytes)};
}

double seconds_in(const std::string& within) {
  if (within.empty()) return 0;
  const double seconds = base::parse_duration(within, "--within");
  if (seconds <= 0)
    throw Error{Fault::kUsage, "--within", fmt::format("'{}' is not above 0", within), "give more time"};
  return seconds;
}

std::string dollars_text(const Served& served) {
  return fmt::format("{} for a million requests and {} for a million tokens", base::money_text(*served.dollars),
                     base::money_text(*served.token_dollars));
}

std::vector<std::int64_t> batch_sizes_in(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const std::string& part : base::split(text, ',')) {
    const std::size_t dots = part.find("..");
    const std::int64_t first = size_in(std::string_view{part}.substr(0, dots), text);
    const std::int64_t last =
        dots == std::string::npos ? first : size_in(std::string_view{part}.substr(dots + 2), text);
    if (last < first)
      throw Error{Fault::kUsage, "--batch_size", fmt::format("{} is less than {}", last, first),
                  "swap the ends of the range"};
    for (std::int64_t size = first; size <= last; size *= 2) out.push_back(size);
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void estimate_requests(const std::string& model, const trnsim::Settings& settings, const Requests& requests) {
  const base::Format form = base::parse_format(settings.output.format);
  seconds_in(requests.within);  // a mistake is told before the answer begins
  const std::vector<Served> served = trnsim::serve(model, settings, batch_sizes_in(requests.batch_sizes));
  if (std::ranges::none_of(served, [](const Served& one) { return one.fits(); }))
    trnsim::require_fit(served.front().job, served.front().memory);
  const trnsim::Job& job = served.front().job;
  const bool writes = trnsim::writes_text(*job.model);
  const base::Table table = table_of(served, writes);
  if (form == base::Format::kJson) return print(json_of(model, served, requests, table).dump(2) + "\n");
  if (form == base::Format::kCsv) return print(table.render(form, columns()));
  const std::int64_t bucket = writes ? prompt_bucket(job) : job.generation->prompt_tokens;
  const std::string padded = bucket > job.generation->prompt_tokens ? fmt::format(" (padded to {})", bucket) : "";
  print(paragraph(fmt::format("{}: requests to 1 x {}, {} of {} each, {}{}{}, {}, stack {}", model, job.machine.name,
                              base::counted(served.front().copies(), "copy"),
                              base::counted(served.front().cores_of_copy(), "core"), trnsim::tokens_read(job), padded,
                              writes ? fmt::format(" and {} written", job.generation->new_tokens) : "",
                              job.step.plan.numerics.name, job.stack)) +
        "\n");
  if (const std::string padding = padding_text(job); !padding.empty()) print(paragraph(padding) + "\n");
  print(answer_of(served, requests, writes) + "\n" + table.render(form, columns()));
  print_next(fmt::format(
      "trnsim choose {} --task inference for other instances and plans, or --within \"20 ms\" for a limit", model));
}

}  // namespace cli
