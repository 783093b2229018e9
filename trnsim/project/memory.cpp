#include "trnsim/project/memory.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/host/stack.h"
#include "runtime/compiler/compile.h"
#include "runtime/compiler/memory_plan.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/project/known_facts.h"
#include "workloads/models/model.h"
#include "workloads/step/pipeline.h"

namespace trnsim {
namespace {

double size(isa::Dtype type) { return static_cast<double>(isa::size_of(type)); }

/// One direction of the messages between two stages.
struct Link {
  std::vector<workloads::Turn> sender, receiver;
  bool forward = true;    // messages of forward passes, or of backward ones
  std::int64_t next = 0;  // offset of the sender's chunk at the receiver
  std::int64_t chunks = 1;

  bool has(std::int64_t chunk) const { return chunk >= 0 && chunk < chunks; }
};

/// Messages that wait at the most: for each turn that the receiver may be at, how far the sender gets by itself. It
/// needs the receiver only for passes in the other direction.
std::int64_t most_waiting(const Link& link) {
  std::set<std::pair<std::int64_t, std::int64_t>> answered;  // chunk of the receiver, micro-batch
  const auto goes_on = [&](const workloads::Turn& t) {
    return t.forward == link.forward || !link.has(t.chunk + link.next) ||
           answered.contains({t.chunk + link.next, t.micro_batch});
  };
  std::int64_t sent = 0, received = 0, most = 0;
  std::size_t next = 0;
  for (const workloads::Turn& turn : link.receiver) {
    for (; next < link.sender.size() && goes_on(link.sender[next]); ++next)
      sent += link.sender[next].forward == link.forward && link.has(link.sender[next].chunk + link.next);
    most = std::max(most, sent - received);
    if (turn.forward != link.forward)
      answered.insert({turn.chunk, turn.micro_batch});
    else if (link.has(turn.chunk - link.next))
      ++received;
  }
  return most;
}

}  // namespace

void Memory::name_rest() {
  std::uint64_t named = 0;
  for (const auto& [kind, bytes] : by_kind) named += bytes;
  total = std::max(total, named);
  if (total > named) by_kind["alignment"] += total - named;
}

Memory memory_of(const runtime::MemoryPlan& plan, const hw::MachineParams& machine) {
  Memory memory{.by_kind = plan.bytes_by_kind, .total = plan.total, .capacity = machine.hbm_bytes_per_core()};
  memory.name_rest();
  return memory;
}

namespace {

/// The plan whose activations are the fewest that the job may keep: attention may keep no probabilities, by its pass or
/// because its rows are long, and selective recomputation keeps all but these.
runtime::Plan kept_plan(const Job& job) {
  constexpr std::int64_t kLong = 8192;  // from here on rows may be taken in blocks
  runtime::Plan plan = job.step.plan;
  const bool dropped = job.passes.flash_attention || job.step.kind.length >= kLong;
  if (dropped && job.model->splits() && plan.recompute == runtime::Recompute::kNone)
    plan.recompute = runtime::Recompute::kSelective;
  return plan;
}

}  // namespace

Memory least_memory(const Job& job) {
  KnownFacts own;
  return least_memory(job, own);
}

Memory least_memory(const Job& job, KnownFacts& known) {
  if (writes_text(job)) return least_generation_memory(job);
  const runtime::Plan& p = job.step.plan;
  const double shards = p.zero1 ? static_cast<double>(p.data) : 1;
  const std::int64_t layers = job.model->sizes().layers / p.pipeline;
  const double kept = static_cast<double>(layers) * job.model->kept_elements(kept_plan(job), job.step.kind.length) *
                      size(p.numerics.activation);
  const auto bytes = [](double n) { return static_cast<std::uint64_t>(n); };
  const auto runtime = static_cast<std::uint64_t>(known.stack(job)->runtime_bytes.value);
  Memory most;
  std::int64_t stage = 0;
  for (const auto& [all, trained] : known.parameters(job)) {
    Memory memory{.capacity = job.machine.hbm_bytes_per_core(), .least = true};
    // A stage begins as many micro-batches as there are stages behind it before the first of them comes back.
    memory.add("activations", bytes(kept * static_cast<double>(std::min(p.pipeline - stage++, p.micro_batches))));
    if (job.generation) {
      memory.by_kind.clear(), memory.total = 0;  // nothing is kept for a backward pass
      memory.add("weights", bytes(all * size(p.numerics.weight)));
      return memory;
    }
    memory.add("gradients", bytes(trained * size(p.numerics.gradient)));
    memory.add("optimizer", bytes(trained * (2 * size(p.numerics.optimizer) + (p.master_weights ? 4 : 0)) / shards));
    memory.add("weights", bytes(all * size(p.numerics.weight)));
    memory.add("runtime", runtime);
    if (memory.total >= most.total) most = std::move(memory);
  }
  return most;
}

std::uint64_t inbox_bytes(const Job& job, std::int64_t stage, std::int64_t micro_batches) {
  const runtime::Plan& p = job.step.plan;
  if (p.pipeline == 1) return 0;
  const std::int64_t stages = p.pipeline;
  const auto turns = [&](std::int64_t of) { return workloads::pipeline_turns(stages, of, p.chunks, micro_batches); };
  // The last stage's next is the first, with the chunk behind: only interleaved stages have one.
  const std::int64_t before = (stage + stages - 1) % stages, after = (stage + 1) % stages;
  const std::int64_t messages = most_waiting({turns(before), turns(stage), true, stage == 0 ? 1 : 0, p.chunks}) +
                                most_waiting({turns(after), turns(stage), false, after == 0 ? -1 : 0, p.chunks});
  const std::int64_t hidden = job.model->sizes().hidden;
  const std::int64_t rows = p.micro_batch * job.step.kind.length / (p.sequence ? p.tensor : 1);
  return static_cast<std::uint64_t>(messages * rows * hidden * isa::size_of(p.numerics.activation));
}

void require_fit(const Job& job, const Memory& memory, const std::string& fix) {
  if (memory.fits()) return;
  const std::string shorter = job.model->fixed_length() > 0 ? "" : " or `max_length`";
  if (job.generation && job.generation->new_tokens == 0)
    return runtime::require_fit("inference", memory.by_kind, memory.total, memory.capacity,
                                "use a smaller `batch_size`" + shorter +
                                    (job.model->shares_tensors() ? ", or a larger `tensor_parallel_size`" : ""));
  if (job.generation)
    return runtime::require_fit("generation", memory.by_kind, memory.total, memory.capacity,
                                fix.empty() ? generation_fix(job) : fix);
  if (job.model->is_given())
    return runtime::require_fit("program", memory.by_kind, memory.total, memory.capacity,
                                "split it over more cores, keep less for its gradient, or use an `instance_type` with "
                                "more memory; the time given assumes a core with enough memory");
  const std::string general =
      job.model->splits() ? "use `recompute` full, `zero_1`, a larger `tensor_parallel_size` or a smaller "
                            "`per_device_train_batch_size`"
                          : "use `recompute` full, `zero_1`, a smaller `per_device_train_batch_size`" + shorter +
                                (job.model->shares_tensors() ? ", or a larger `tensor_parallel_size`" : "");
  runtime::require_fit("train", memory.by_kind, memory.total, memory.capacity, fix.empty() ? general : fix,
                       memory.least);
}

}  // namespace trnsim
