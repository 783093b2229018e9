#include "trnsim/pipeline_memory.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "isa/dtype.h"
#include "workloads/pipeline.h"

namespace trnsim {
namespace {

/// One direction of the messages between two stages.
struct Link {
  std::vector<workloads::Turn> sender, receiver;
  bool forward = true;    // messages of forward passes, or of backward ones
  std::int64_t next = 0;  // what the sender's chunk is at the receiver: that much further
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

std::uint64_t inbox_bytes(const DecoderJob& job, std::int64_t stage) {
  if (job.step.plan.pipeline == 1) return 0;
  const workloads::Step& s = job.step;
  const std::int64_t stages = job.step.plan.pipeline, chunks = s.plan.chunks;
  const auto turns = [&](std::int64_t of) {
    return workloads::pipeline_turns(stages, of, chunks, micro_batches_to_run(job));
  };
  // The last stage's next is the first, with the chunk behind: only interleaved stages have one.
  const std::int64_t before = (stage + stages - 1) % stages, after = (stage + 1) % stages;
  const std::int64_t messages = most_waiting({turns(before), turns(stage), true, stage == 0 ? 1 : 0, chunks}) +
                                most_waiting({turns(after), turns(stage), false, after == 0 ? -1 : 0, chunks});
  const std::int64_t hidden = std::visit([](const auto& c) { return c.hidden_size; }, job.config);
  const std::int64_t rows = s.plan.micro_batch * s.kind.length / (s.plan.sequence ? s.plan.tensor : 1);
  return static_cast<std::uint64_t>(messages * rows * hidden * isa::size_of(s.plan.numerics.activation));
}

}  // namespace trnsim
