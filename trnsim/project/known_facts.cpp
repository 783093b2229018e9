#include "trnsim/project/known_facts.h"

#include "base/archive.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/lora.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"

namespace trnsim {
namespace {

void add(const workloads::WeightSpec& w, Parameters& to) {
  const auto count = static_cast<double>(workloads::element_count(w.shape));
  to.all += count;
  if (!w.frozen) to.trained += count;
}

/// Counts every tensor.
std::vector<Parameters> counted(const workloads::ModelPtr& model, const workloads::ShardPlan& plan) {
  workloads::ShardPlan one_stage = plan;
  one_stage.pipeline_parallel_size = one_stage.virtual_pipeline_size = 1;
  std::vector<Parameters> out(static_cast<std::size_t>(plan.pipeline_parallel_size));
  for (const workloads::WeightSpec& w : workloads::shard_specs(model, one_stage, {}))
    for (std::size_t stage = 0; stage < out.size(); ++stage)
      if (workloads::is_on_stage(w, model, plan, static_cast<std::int64_t>(stage))) add(w, out[stage]);
  return out;
}

/// Parameters of each stage on one tensor-parallel rank. A search asks for them hundreds of times: of a model deeper
/// than any that was trained they are those of a shallow one and, in equal parts, of its further layers.
std::vector<Parameters> parameters_of(const Job& job) {
  constexpr std::int64_t kDeep = 512;
  const workloads::ShardPlan plan = workloads::shard_plan(job.step.plan);
  workloads::check(plan, job.model);
  const std::int64_t layers = job.model->sizes().layers,
                     unit = plan.pipeline_parallel_size * plan.virtual_pipeline_size;
  if (layers <= kDeep) return counted(job.model, plan);
  const auto of = [&](std::int64_t units) { return counted(job.model->with_sizes({.layers = units * unit}), plan); };
  std::vector<Parameters> out = of(1);
  const std::vector<Parameters> two = of(2);
  const double further = static_cast<double>(layers / unit) - 1;
  for (std::size_t s = 0; s < out.size(); ++s)
    out[s] = {.all = out[s].all + further * (two[s].all - out[s].all),
              .trained = out[s].trained + further * (two[s].trained - out[s].trained)};
  return out;
}

}  // namespace

std::shared_ptr<const analysis::Stack> KnownFacts::stack(const Job& job) {
  base::ArchiveWriter key;
  key(job.stack, job.stack_changes);
  auto& known = stacks_[key.take()];
  if (!known) known = std::make_shared<const analysis::Stack>(job.load_stack());
  return known;
}

const workloads::ModelPtr& KnownFacts::with_layers(const workloads::ModelPtr& model, std::int64_t layers) {
  workloads::ModelPtr& known = models_[{model, layers}];
  if (!known) known = model->with_sizes({.layers = layers});
  return known;
}

double KnownFacts::trained(const workloads::ModelPtr& model) {
  const auto known = trained_.find(model);
  if (known != trained_.end()) return known->second;
  return trained_[model] = static_cast<double>(workloads::trained_count(model->weights()));
}

const std::vector<Parameters>& KnownFacts::parameters(const Job& job) {
  const runtime::Plan& plan = job.step.plan;
  std::vector<Parameters>& known = parameters_[{job.model, plan.tensor, plan.pipeline, plan.chunks}];
  if (known.empty()) known = parameters_of(job);
  return known;
}

}  // namespace trnsim
