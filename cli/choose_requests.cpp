// `trnsim choose MODEL --task inference`: the instance, the cores of a copy and the batch for requests to a model.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/record/result.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/choose_requests.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/serve.h"
#include "cli/tables.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/estimate.h"

namespace cli {
namespace {

using base::Cell;
using base::Error;
using base::Fault;
using trnsim::Served;

std::string readable_time(double seconds) { return base::readable(seconds, base::Dimension::kTime); }

std::string command_of(const RequestsToPlace& asked, const Served& one) {
  std::string out = fmt::format("trnsim estimate {}", asked.model);
  trnsim::Settings other = asked.settings;
  other.given.erase("batch_size");  // the choice has its own
  for (const std::string& word : typed_job_flags("choose", other)) out += " " + word;
  out += fmt::format(" --instance_type {}", one.job.machine.name);
  if (one.job.model->splits() || one.cores_of_copy() > 1)
    out += fmt::format(" --tensor_parallel_size {}", one.cores_of_copy());
  return out + fmt::format(" --batch_size {}", one.job.step.plan.micro_batch);
}

std::string line_of(const RequestsToPlace& asked, const char* name, const Served& one) {
  std::string out =
      paragraph(fmt::format("{}: {} until {}, {}, {} requests/s on 1 x {}, {}", name, readable_time(one.latency),
                            trnsim::writes_text(*one.job.model) ? "the last token" : "the answers", dollars_text(one),
                            short_number(one.requests), one.job.machine.name, describe(one)));
  if (const double seconds = asked.requests > 0 ? one.seconds_of(asked.requests) : 0; seconds > 0)
    out += paragraph(fmt::format("  all: {:.0f} requests take {} and {}", asked.requests, base::duration_text(seconds),
                                 base::money_text(seconds / 3600 * *one.job.price_per_hour)));
  return out + paragraph("  see: " + command_of(asked, one));
}

/// The best of another instance type, by `figure`.
template <class Figure>
const Served* next_type(const std::vector<Served>& all, const Served& best, double within, Figure figure) {
  const Served* next = nullptr;
  for (const Served& one : all)
    if (one.fits() && one.dollars && (within <= 0 || one.latency <= within) &&
        one.job.machine.name != best.job.machine.name && (!next || figure(one) < figure(*next)))
      next = &one;
  return next;
}

std::string reasons_of(const std::vector<Served>& all, const Served& cheapest, const Served& soonest, double within) {
  std::string out;
  if (const Served* next = next_type(all, cheapest, within, [](const Served& s) { return *s.dollars; }))
    out +=
        paragraph(fmt::format("why the cheapest: {}, the next instance type, takes {} for a million requests at "
                              "best, with {}",
                              next->job.machine.name, base::money_text(*next->dollars), describe(*next)));
  if (const Served* next = next_type(all, soonest, within, [](const Served& s) { return s.latency; }))
    out += paragraph(fmt::format("why the soonest: {}, the next instance type, answers in {} at best, with {}",
                                 next->job.machine.name, readable_time(next->latency), describe(*next)));
  return out;
}

base::Table table_of(const std::vector<Served>& all, const std::vector<std::size_t>& shown) {
  base::Table table{{{"dollars_per_million_requests", "$/M req", base::Align::kRight},
                     {"dollars_per_million_tokens", "$/M tok", base::Align::kRight},
                     {"latency_seconds", "latency", base::Align::kRight},
                     {"time_to_first_token_seconds", "first", base::Align::kRight},
                     {"requests_per_second", "requests/s", base::Align::kRight},
                     {"instance_type", "instance"},
                     {"copies", "", base::Align::kRight},
                     {"cores", "cores", base::Align::kRight},
                     {"batch_size", "batch", base::Align::kRight},
                     {"hbm_bytes", "HBM", base::Align::kRight}}};
  for (const std::size_t i : shown) {
    const Served& one = all[i];
    table.add_row({money_cell(one.dollars), money_cell(one.token_dollars), time_cell(one.latency),
                   time_cell(one.first_token), Cell{one.requests, short_number(one.requests)}, one.job.machine.name,
                   one.copies(), one.cores_of_copy(), one.job.step.plan.micro_batch, bytes_cell(one.memory.total)});
  }
  return table;
}

}  // namespace

void choose_requests(const RequestsToPlace& asked) {
  const base::Format form = base::parse_format(asked.settings.output.format);
  const double within = seconds_in(asked.within);
  const auto batch = trnsim::batch_of_requests(asked.settings);
  const trnsim::ServingSpace space{.instance_types = asked.instance_types,
                                   .batches = batch ? std::vector{*batch} : batch_sizes_in(Requests{}.batch_sizes)};
  const std::vector<Served> all =
      serve_everywhere(asked.model, trnsim::estimate_settings(asked.settings), space, processes_of(asked.settings),
                       uneven_progress_of("choose", "kind of copy"));
  const std::vector<std::size_t> front = serving_front(all, within);
  if (front.empty()) {
    const std::vector<std::size_t> any = serving_front(all);
    if (any.empty())
      throw Error{Fault::kCapacity, asked.model, fmt::format("none of {} fits", base::counted(all.size(), "choice")),
                  "allow other --instance_types, or a shorter --max_length"};
    throw Error{Fault::kCapacity, asked.model,
                fmt::format("nothing answers within {}: the soonest takes {}", readable_time(within),
                            readable_time(all[any.back()].latency)),
                "raise --within"};
  }
  if (form == base::Format::kTable) {
    const Served &cheapest = all[front.front()], &soonest = all[front.back()];
    print(line_of(asked, "cheapest", cheapest) + line_of(asked, "soonest", soonest) +
          reasons_of(all, cheapest, soonest, within));
    if (!asked.tables.wanted()) return print_next("the command after 'see', or --tables for the whole Pareto front");
    print("\n");
  }
  print(table_of(all, front).render(form, columns()));
  base::log_info("{} of instance, cores and batch were timed, {} fit", base::counted(all.size(), "choice"),
                 std::ranges::count_if(all, &Served::fits));
}

}  // namespace cli
