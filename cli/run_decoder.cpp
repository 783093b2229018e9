#include "cli/run_decoder.h"

#include <fmt/format.h>

#include "analysis/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "cli/decoder_report.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "workloads/presets.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

/// The decoder's projection as the report of any run has it: what it says of a step is one stage's.
Projection as_projection(const DecoderJob& job, DecoderProjection p) {
  Projection out;
  out.compiled = std::move(p.compiled);
  out.device = std::move(p.device);
  out.time = p.time;
  out.steps = p.steps;
  out.samples = p.steps * job.sequences_per_step();
  out.dollars = p.dollars;
  return out;
}

void show(const RunReport& report, const DecoderJob& job, const base::Table& figures, const base::Table& memory,
          base::Format form) {
  print(fmt::format("{}: {}\n{} x {}: {}\n\n", report.job->name, report.job->text, job.instances, report.machine->name,
                    describe(job)));
  print(job_table(report).render(form) + "\n");
  print(figures.render(form) + "\n");
  print(engine_table(*report.projection).render(form) + "\n");
  print(time_table(*report.projection).render(form) + "\n");
  print(memory.render(form));
}

}  // namespace

bool is_decoder(const workloads::Job& job) {
  return workloads::is_model_preset(job.model) &&
         !std::holds_alternative<workloads::BertConfig>(workloads::model_preset(job.model));
}

void run_decoder(const workloads::Job& job, const TrainOptions& options, const std::string& command,
                 const std::filesystem::path& folder) {
  const base::Format form = base::parse_format(options.format);
  if (options.numerics != "off" && (options.mode == "numeric" || options.mode == "full"))
    throw Error{Fault::kUsage, "trnsim run " + job.name, "projects a decoder's time, and computes no numbers of it",
                "use --numerics off; trnsim verify computes what a small Llama learns on any plan"};
  DecoderJob d = decoder_job(options, decoder_config(options.model_id.empty() ? job.model : options.model_id),
                             static_cast<double>(job.samples) * options.num_train_epochs);
  if (options.max_steps >= 0) d.sequences = static_cast<double>(options.max_steps) * d.sequences_per_step();
  DecoderProjection p = project(d, stage_machine(d, options.instance_type, options.set));
  const hw::MachineParams machine = load_cluster(options.instance_type, options.set, d.instances);
  ProjectedJob plan;
  plan.step = d.step, plan.samples = job.samples, plan.epochs = options.num_train_epochs, plan.stack = d.stack;
  const base::Table figures = decoder_table(d, p), memory = decoder_memory_table(p.memory);
  const Projection projection = as_projection(d, std::move(p));
  RunReport report;
  report.workload = job.name, report.command = command, report.options = options;
  report.job = &job, report.machine = &machine, report.projected = &plan, report.projection = &projection;
  report.decoder = &d.config;
  report.cores = static_cast<std::uint32_t>(d.cores());
  base::make_output_folder(folder, options.overwrite_output_dir);
  if (form == base::Format::kTable || form == base::Format::kMarkdown) show(report, d, figures, memory, form);
  write_run_files(folder, report);
  if (form == base::Format::kJson) print(result_body(report).dump(2) + "\n");
  if (form == base::Format::kCsv) print(job_table(report).render(form));
  base::log_info("results in {}", folder.string());
}

}  // namespace cli
