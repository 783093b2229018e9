#include "cli/pipeline_memory.h"

#include <algorithm>

#include "isa/dtype.h"
#include "workloads/pipeline.h"

namespace cli {
namespace {

/// Messages of forward passes (or backward ones) that wait at the most: for each turn that the receiver may be at, how
/// far the sender gets by itself. It needs the receiver only for passes in the other direction.
std::int64_t most_waiting(const std::vector<workloads::Turn>& sender, const std::vector<workloads::Turn>& receiver,
                          bool forward) {
  std::vector<char> answered(sender.size(), 0);  // by micro-batch
  std::int64_t sent = 0, received = 0, most = 0;
  std::size_t next = 0;
  for (const workloads::Turn& turn : receiver) {
    const auto goes_on = [&](const workloads::Turn& t) {
      return t.forward == forward || answered[static_cast<std::size_t>(t.micro_batch)];
    };
    for (; next < sender.size() && goes_on(sender[next]); ++next) sent += sender[next].forward == forward;
    most = std::max(most, sent - received);
    if (turn.forward == forward)
      ++received;
    else
      answered[static_cast<std::size_t>(turn.micro_batch)] = 1;
  }
  return most;
}

}  // namespace

std::uint64_t inbox_bytes(const DecoderJob& job, std::int64_t stage) {
  if (job.pipeline == 1) return 0;
  const workloads::StepSpec& s = job.step;
  const auto turns = [&](std::int64_t of) {
    return workloads::pipeline_turns(job.pipeline, of, 1, std::min(s.micro_batches, 2 * job.pipeline));
  };
  std::int64_t messages = 0;
  if (stage > 0) messages += most_waiting(turns(stage - 1), turns(stage), true);
  if (stage + 1 < job.pipeline) messages += most_waiting(turns(stage + 1), turns(stage), false);
  const std::int64_t hidden = std::visit([](const auto& c) { return c.hidden_size; }, job.config);
  const std::int64_t rows = s.batch * s.length / (s.sequence_parallel ? s.tensor_parallel : 1);
  return static_cast<std::uint64_t>(messages * rows * hidden * isa::size_of(s.numerics.activation));
}

}  // namespace cli
