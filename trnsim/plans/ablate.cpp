#include "trnsim/plans/ablate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "hw/trace.h"
#include "runtime/compiler/compile.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/settings.h"
#include "trnsim/run/train.h"

namespace trnsim {

PassFigures pass_figures(const Job& job, bool exact) {
  Job step = job;
  step.sizes.eval_samples = 0;
  const Projection p = project(step, {.exact = exact, .any_memory = true});
  PassFigures out{.seconds = p.device_seconds, .hbm_bytes = static_cast<double>(p.memory.total)};
  const hw::DmaTime& dma = p.stage().device().dma;
  out.traffic = static_cast<double>(dma.read_bytes + dma.written_bytes);
  for (const Stage& stage : p.stages)
    for (const isa::Call& call : stage.compiled().program.calls)
      out.instructions += stage.compiled().program.blocks[call.block].instrs.size();
  return out;
}

std::vector<PassVariant> pass_variants(const Job& job) {
  if (writes_text(job))
    throw base::Error{base::Fault::kUsage, "passes", "generation is always compiled with all of them",
                      "name a training, or an encoder with `task` inference"};
  std::vector<PassVariant> out{{"(as given)", "the step as given", job}};
  Job none = job;
  for (const runtime::PassInfo& pass : runtime::kPasses) {
    Job other = job;
    other.passes.*pass.flag = !(job.passes.*pass.flag);
    none.passes.*pass.flag = false;
    out.push_back({fmt::format("{}{}", job.passes.*pass.flag ? '-' : '+', pass.name), std::string{pass.text}, other});
  }
  if (const auto* graph = dynamic_cast<const GraphModel*>(job.model.get())) {
    std::string all;
    for (const frontend::RewriteNote& note : graph->lowered().rewrites) {
      if (note.count == 0) continue;
      const std::string off = fmt::format("-{}", note.name);
      Job other = job;
      other.model = graph->with_rewrites(off);
      out.push_back(
          {off, fmt::format("without {}: the operations that it would rewrite stay as written", note.name), other});
      all += (all.empty() ? "" : ",") + off;
    }
    if (!all.empty()) none.model = graph->with_rewrites(all);
  }
  out.push_back({"(none)", "no pass at all", none});
  return out;
}

SmallTraining small_training(const workloads::Workload& workload, const Settings& given) {
  constexpr std::int64_t kFirstSteps = 3, kFewSamples = 64;
  Settings settings = given;
  settings.data.model_id.clear();
  settings.data.dataset_path.clear();
  apply_workload(settings, workload, WorkloadPart::kTrained);
  if (settings.numerics.name.ends_with("+sr")) settings.numerics.name.resize(settings.numerics.name.size() - 3);
  settings.data.max_train_samples = settings.data.max_eval_samples = kFewSamples;
  settings.training.max_steps = kFirstSteps;
  settings.training.eval_strategy = "no";
  const workloads::TrainingDataPtr data = load_training(workload, settings);
  return [data, settings, job = training_job(*data, settings)](const runtime::Passes& passes) {
    std::vector<double> values;
    Job changed = job;
    changed.passes = passes;
    const auto trainer = make_trainer(*data, changed, settings, {});
    trainer->on_step = [&](const workloads::StepRecord& step) {
      values.push_back(step.loss);
      values.push_back(step.grad_norm);
    };
    trainer->run();
    return values;
  };
}

namespace {

std::int64_t batch_of(const Job& job, std::int64_t most) {
  const std::int64_t largest = largest_batch(job);
  return most > 0 ? std::min(largest, most) : largest;
}

}  // namespace

JobOf at_largest_batch(JobOf job_of, const Job& known, std::int64_t most) {
  return [job_of = std::move(job_of), known, most](const Settings& settings) {
    Job job = job_of(settings);
    job.step.plan.micro_batch = known.step.plan.micro_batch;
    if (!same_on_the_device(job, known)) job.step.plan.micro_batch = std::max<std::int64_t>(1, batch_of(job, most));
    return job;
  };
}

CompilerGain compiler_gain(const Job& job, double learning_rate, const TraceWindow& trace, std::int64_t most) {
  Job bare = job, same = job, large = job;
  for (const runtime::PassInfo& pass : runtime::kPasses) bare.passes.*pass.flag = false;
  bare.sizes.eval_samples = same.sizes.eval_samples = 0;  // only training is compared
  std::int64_t& batch = large.step.plan.micro_batch;
  batch = std::max(batch, batch_of(job, most));
  const double scaled = learning_rate * static_cast<double>(batch) /
                        static_cast<double>(std::max<std::int64_t>(1, job.step.plan.micro_batch));
  CompilerGain gain;
  gain.cases.push_back({"without passes", bare, project(bare), learning_rate});
  gain.cases.push_back({"with passes", same, project(same), learning_rate});
  gain.cases.push_back({"with passes, largest batch", large, project(large, {.trace = trace}), scaled});
  return gain;
}

}  // namespace trnsim
