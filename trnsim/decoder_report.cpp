#include "trnsim/decoder_report.h"

#include <fmt/format.h>

#include "base/progress.h"
#include "trnsim/run_report.h"
#include "workloads/weights.h"

namespace trnsim {

base::Table decoder_table(const DecoderJob& job, const DecoderProjection& p) {
  base::Table table{{{"figure", ""}, {"value", ""}, {"unit", ""}}};
  const auto row = [&](const char* name, std::string value, const char* unit) {
    table.add_row({name, std::move(value), unit});
  };
  const double per_step = p.time.total / p.steps;
  row("parameters",
      fmt::format("{:.3f}",
                  static_cast<double>(workloads::parameter_count(workloads::model_weights(job.config))) / 1e9),
      "1e9");
  row("cores", fmt::format("{}", job.cores()), "");
  row("sequences_per_step", fmt::format("{:.0f}", job.sequences_per_step()), "sequences");
  row("tokens_per_step", fmt::format("{:.0f}", job.tokens_per_step()), "tokens");
  row("model_flops_per_step", fmt::format("{:.4g}", p.model_flops / 1e12), "TFLOP");
  row("device_step", fmt::format("{:.4f}", p.time.device_step), "s");
  row("pipeline_bubble", fmt::format("{:.4f}", p.bubble_seconds), "s");
  row("collectives_exposed", fmt::format("{:.4f}", hw::seconds(p.device.collective_exposed)), "s per step");
  row("host_step", fmt::format("{:.4f}", p.time.host_step), "s");
  row("step", fmt::format("{:.4f}", p.time.step), "s");
  row("mfu", fmt::format("{:.1f}", 100 * p.mfu), "% of the device's time");
  row("sequences_per_second", fmt::format("{:.2f}", job.sequences_per_step() / per_step), "1/s");
  row("tokens_per_second", fmt::format("{:.0f}", job.tokens_per_step() / per_step), "1/s");
  row("steps", fmt::format("{:.0f}", p.steps), "");
  row("train_runtime", base::clock_text(p.time.total), "h:mm:ss");
  row("compile", base::clock_text(p.time.compile), "h:mm:ss, once");
  row("dollars", p.dollars ? fmt::format("{:.2f}", *p.dollars) : "no price", "$");
  return table;
}

base::Table decoder_memory_table(const DecoderMemory& memory) {
  return memory_table(memory.by_kind, memory.total, memory.capacity);
}

}  // namespace trnsim
