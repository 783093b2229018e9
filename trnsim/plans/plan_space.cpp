#include "trnsim/plans/plan_space.h"

#include <algorithm>
#include <map>

#include "workloads/models/model.h"

namespace trnsim {
namespace {

template <class T>
std::vector<T> values_or(const std::vector<T>& values, T own) {
  return values.empty() ? std::vector<T>{own} : values;
}

/// The job with this micro-batch and these degrees; false: its cores or its batch do not allow them.
bool reshape(Job& job, std::int64_t micro_batch, PlanMoves::Degrees degrees, bool any_batch) {
  runtime::Plan& plan = job.step.plan;
  const std::int64_t cores = job.cores(), shared = degrees.tensor * degrees.pipeline;
  if (shared == 0 || cores % shared != 0) return false;
  const std::int64_t all = plan.sequences_per_step(), at_once = micro_batch * (cores / shared);
  if (all % at_once != 0 && !any_batch) return false;
  const bool split = (plan.sequence || plan.tensor == 1) && job.model->splits();
  plan.tensor = degrees.tensor, plan.pipeline = degrees.pipeline;
  plan.data = static_cast<std::uint32_t>(cores / shared);
  plan.sequence = plan.tensor > 1 && split;
  plan.micro_batch = micro_batch, plan.micro_batches = std::max<std::int64_t>(1, all / at_once);
  return true;
}

}  // namespace

std::vector<Job> plans_near(const Job& job, const PlanMoves& moves) {
  const runtime::Plan& own = job.step.plan;
  std::vector<Job> out;
  for (const std::int64_t micro_batch : values_or(moves.micro_batch, own.micro_batch))
    for (const auto degrees : values_or(moves.degrees, {own.tensor, own.pipeline})) {
      Job shaped = job;
      if (!reshape(shaped, micro_batch, degrees, moves.any_batch)) continue;
      for (const std::int64_t chunks : values_or(moves.chunks, own.chunks)) {
        if (!moves.chunks.empty() && chunks > 1 && degrees.pipeline == 1) continue;
        for (const bool zero1 : values_or(moves.zero1, own.zero1)) {
          if (zero1 && !own.zero1 && shaped.step.plan.data == 1) continue;
          for (const runtime::Recompute recompute : values_or(moves.recompute, own.recompute)) {
            Job& other = out.emplace_back(shaped);
            other.step.plan.chunks = chunks, other.step.plan.zero1 = zero1, other.step.plan.recompute = recompute;
          }
        }
      }
    }
  return out;
}

std::vector<std::pair<std::string, std::string>> plan_changes(const Job& before, const Job& after) {
  std::map<std::string, std::string> had{{"per_device_train_batch_size", "1"}};
  for (const auto& [name, value] : plan_settings(before)) had[name] = value;
  auto settings = plan_settings(after);
  if (after.step.plan.micro_batch == 1 && before.step.plan.micro_batch > 1 && after.model->splits())
    settings.emplace_back("per_device_train_batch_size", "1");
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : settings)
    if (const auto old = had.find(name); old == had.end() || old->second != value)
      out.emplace_back(name, value.empty() ? "true" : value);
  return out;
}

}  // namespace trnsim
