#include "workloads/training/programs.h"

#include <algorithm>
#include <utility>

#include "workloads/step/pipeline.h"

namespace workloads {
namespace {

/// Regions of each stage that another program of it has placed already; null: none has.
using Placed = const StepPrograms*;

StepPrograms compile(const ModelPtr& model, const Step& step, const char* name, DecoderPipeline pipeline,
                     const ProgramOptions& options, Placed placed) {
  StepPrograms out{.stages = {}, .io = HostIo{model, step, std::move(pipeline.zero)}};
  for (std::size_t stage = 0; stage < pipeline.graphs.size(); ++stage) {
    runtime::CompileOptions how =
        compile_options(of_stage(step, static_cast<std::int64_t>(stage)), name, options.passes, options.cache);
    if (placed) how.shared = &placed->stages[stage].program.regions;
    out.stages.push_back(runtime::compile(std::move(pipeline.graphs[stage]), options.target, how));
  }
  return out;
}

/// One device runs all in turn, so it needs room for the largest.
void make_room(TrainingPrograms& all) {
  std::vector<StepPrograms*> sets{&all.train, &all.evaluation};
  for (StepPrograms& one : all.shorter) sets.push_back(&one);
  std::uint64_t bytes = 0;
  for (const StepPrograms* one : sets)
    for (const runtime::Compiled& stage : one->stages) bytes = std::max(bytes, stage.program.hbm_bytes);
  for (StepPrograms* one : sets)
    for (runtime::Compiled& stage : one->stages) stage.program.hbm_bytes = bytes;
}

}  // namespace

isa::Programs StepPrograms::programs() const {
  isa::Programs out;
  for (const runtime::Compiled& stage : stages) out.push_back(&stage.program);
  return out;
}

TrainingPrograms compile_training(const ModelPtr& model, const Step& step, const Step& evaluation,
                                  const std::vector<std::int64_t>& lengths, const ProgramOptions& options) {
  DecoderPipeline train = decoder_pipeline(model, step), held_out = decoder_pipeline(model, evaluation);
  std::vector<std::vector<ZeroBucket>> zero = train.zero;
  StepPrograms trained = compile(model, step, "train", std::move(train), options, nullptr);
  StepPrograms evaluated = compile(model, evaluation, "evaluate", std::move(held_out), options, &trained);
  TrainingPrograms out{std::move(trained), std::move(evaluated), {}, std::move(zero)};
  for (std::size_t i = 0; i + 1 < lengths.size(); ++i) {
    Step shorter = step;
    shorter.kind.length = lengths[i];
    out.shorter.push_back(compile(model, shorter, "train", decoder_pipeline(model, shorter), options, &out.train));
  }
  make_room(out);
  return out;
}

}  // namespace workloads
