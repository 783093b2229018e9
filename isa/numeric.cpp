// Training numerics without time: each rank's calls in program order, ranks spread over host threads.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "base/error.h"
#include "isa/device.h"
#include "isa/exec.h"
#include "isa/team.h"

namespace isa {
namespace {

/// The instructions of a block up to the next collective, which all ranks meet at.
struct Segment {
  std::uint32_t begin = 0, end = 0;  // instrs[end] is a collective unless it is the block's end
};

std::vector<Segment> segments_of(const Block& block) {
  std::vector<Segment> segments;
  const auto size = static_cast<std::uint32_t>(block.instrs.size());
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!is_collective(block.instrs[i].op)) continue;
    segments.push_back({begin, i});
    begin = i + 1;
  }
  segments.push_back({begin, size});
  return segments;
}

/// Threads of one run(): `workers` that each carry some ranks, and inside each rank a team when there are more threads
/// than ranks.
class Crew {
 public:
  Crew(std::uint32_t ranks, int threads) : threads_{threads} {
    const int workers = std::min<int>(threads, static_cast<int>(ranks));
    const int inside = threads / workers;
    workers_ = std::make_unique<Team>(workers, workers * inside);
    for (int w = 0; inside > 1 && w < workers; ++w) teams_.emplace_back(inside, workers * inside);
  }
  int threads() const { return threads_; }
  int workers() const { return workers_->size(); }
  Team* whole() { return workers_.get(); }
  Team* inside(int worker) { return teams_.empty() ? nullptr : &teams_[static_cast<std::size_t>(worker)]; }

 private:
  int threads_;
  std::unique_ptr<Team> workers_;
  std::deque<Team> teams_;
};

class NumericDevice : public Device {
 public:
  void load(const Program& program) override;
  void run(const RunOptions& options) override;
  Memory& memory(std::uint32_t rank) override;

 private:
  void run_call(const Call& call, std::vector<Context>& contexts);
  void run_segment(const Block& block, Segment segment, std::vector<Context>& contexts);
  void meet(const Instr& instr, std::vector<Context>& contexts);

  const Program* program_ = nullptr;
  std::vector<std::vector<Segment>> segments_;  // of each block
  std::deque<Memory> memories_;
  std::unique_ptr<Crew> crew_;
};

void NumericDevice::load(const Program& program) {
  segments_.clear();
  for (const Block& block : program.blocks) segments_.push_back(segments_of(block));
  const bool fits = memories_.size() == program.ranks && memories_.front().hbm_bytes() >= program.hbm_bytes;
  if (!fits) {  // HBM stays from program to program while it is large enough
    memories_.clear();
    for (std::uint32_t rank = 0; rank < program.ranks; ++rank) memories_.emplace_back(program.hbm_bytes);
  }
  program_ = &program;
}

Memory& NumericDevice::memory(std::uint32_t rank) {
  base::ensure(rank < memories_.size(), "numeric device", fmt::format("rank {} of {}", rank, memories_.size()));
  return memories_[rank];
}

void NumericDevice::run(const RunOptions& options) {
  base::ensure(program_ != nullptr, "numeric device", "run before load");
  const int host = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.host_threads > 0 ? options.host_threads : host;
  if (!crew_ || crew_->threads() != threads ||
      crew_->workers() != std::min<int>(threads, static_cast<int>(program_->ranks)))
    crew_ = std::make_unique<Crew>(program_->ranks, threads);
  std::vector<Context> contexts;
  for (std::uint32_t rank = 0; rank < program_->ranks; ++rank)
    contexts.push_back({.memory = memories_[rank],
                        .bases = {},
                        .rounding = program_->rounding,
                        .seed = options.seed,
                        .step = options.step,
                        .rank = rank});
  for (const Call& call : program_->calls) run_call(call, contexts);
}

void NumericDevice::run_call(const Call& call, std::vector<Context>& contexts) {
  const Block& block = program_->blocks.at(call.block);
  for (Context& context : contexts) {
    context.bases = call.bases;
    context.call_rng = call.rng;
  }
  for (const Segment segment : segments_[call.block]) {
    if (segment.begin < segment.end) run_segment(block, segment, contexts);
    if (segment.end < block.instrs.size()) meet(block.instrs[segment.end], contexts);
  }
}

void NumericDevice::run_segment(const Block& block, Segment segment, std::vector<Context>& contexts) {
  const auto ranks = contexts.size();
  const auto workers = static_cast<std::size_t>(crew_->workers());
  crew_->whole()->run([&](int worker) {
    for (std::size_t rank = static_cast<std::size_t>(worker); rank < ranks; rank += workers) {
      contexts[rank].team = crew_->inside(worker);
      for (std::uint32_t i = segment.begin; i < segment.end; ++i) execute(block.instrs[i], i, contexts[rank]);
    }
  });
}

void NumericDevice::meet(const Instr& instr, std::vector<Context>& contexts) {
  base::ensure(instr.group < program_->groups.size(), "numeric device",
               fmt::format("replica group {} of {}", instr.group, program_->groups.size()));
  for (const std::vector<std::uint32_t>& members : program_->groups[instr.group]) {
    std::vector<Context*> group;
    for (const std::uint32_t rank : members) {
      group.push_back(&contexts.at(rank));
      // One rank's team alone when there are more threads than ranks; the workers, who now wait, when there are not.
      group.back()->team = crew_->workers() > 1 ? crew_->whole() : crew_->inside(0);
    }
    execute_collective(instr, group);
  }
}

}  // namespace

std::unique_ptr<Device> make_numeric_device() { return std::make_unique<NumericDevice>(); }

}  // namespace isa
