// Training numerics without time: each rank's calls in program order, ranks spread over host threads.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <set>
#include <thread>

#include "base/error.h"
#include "isa/device.h"
#include "isa/exec.h"
#include "isa/exec/thread_team.h"
#include "isa/kernels/kernels.h"
#include "isa/names.h"

namespace isa {
namespace {

/// The instructions of a block up to the next collective, where all ranks meet.
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

/// Bytes of a partition with which a block needs SBUF in huge pages: a twelfth of the time of long attention was the
/// search for small ones.
constexpr std::int64_t kLarge = 64 * 1024;

bool is_large(const Programs& programs) {
  return std::ranges::any_of(programs, [](const Program* program) {
    return std::ranges::any_of(program->blocks, [](const Block& block) { return block.sbuf_bytes >= kLarge; });
  });
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

/// The progress of one program's ranks. They advance together, so one place serves them all.
struct Progress {
  const Program* program = nullptr;
  std::vector<std::vector<Segment>> segments;  // per block
  std::size_t call = 0, segment = 0;
  bool entered = false;   // the call's registers are set
  bool computed = false;  // the segment up to the collective is done

  bool finished() const { return call == program->calls.size(); }
  const Call& current() const { return program->calls[call]; }
  const Block& block() const { return program->blocks.at(current().block); }
  const Segment& part() const { return segments.at(current().block)[segment]; }
  /// The collective that the segment ends with, or null.
  const Instr* collective() const { return part().end < block().instrs.size() ? &block().instrs[part().end] : nullptr; }
  void next() {
    computed = false;
    if (++segment < segments[current().block].size()) return;
    segment = 0;
    entered = false;
    ++call;
  }
};

/// Executes an instruction; an error names its label, if its block has one.
void execute_at(const Block& block, std::uint32_t i, Context& context) {
  try {
    execute(block.instrs[i], i, context);
  } catch (const base::Error& e) {
    const std::uint32_t label = block.instrs[i].label;
    if (label >= block.labels.size() || block.labels[label].empty()) throw;
    throw base::Error{e.fault(), fmt::format("{}: {}", block.labels[label], e.where()), e.problem(), e.fix()};
  }
}

class NumericDevice : public Device {
 public:
  void load_all(const Programs& programs) override;
  void run(const RunOptions& options) override;
  Memory& memory(std::uint32_t rank) override;

 private:
  bool advance(Progress& at);
  void enter_call(Progress& at);
  void run_segment(const Progress& at);
  void execute_counted(const Block& block, std::uint32_t i, Context& context);
  bool meet(Progress& at);
  bool exchange(const Progress& at, const Instr& instr);
  bool meet_others(Progress& at, const Instr& instr);
  std::set<Progress*> partners(Progress& at, const Instr& instr);
  void execute_sets(const std::set<Progress*>& together, const Instr& instr);
  [[noreturn]] void report_deadlock();

  bool given_up() const { return give_up_ && give_up_(); }
  Progress& progress_of(std::uint32_t rank);
  const std::vector<std::vector<std::uint32_t>>& sets_of(const Progress& at, const Instr& instr) const;

  std::vector<Progress> programs_;
  std::deque<Memory> memories_;
  std::vector<Context> contexts_;  // of the run, by rank
  std::unique_ptr<Crew> crew_;
  bool (*give_up_)() = nullptr;
  std::map<std::uint32_t, std::uint64_t>* outside_ = nullptr;
};

void NumericDevice::load_all(const Programs& programs) {
  require_together(programs);
  programs_.clear();
  std::uint64_t bytes = 0;
  for (const Program* program : programs) {
    programs_.push_back({.program = program, .segments = {}});
    for (const Block& block : program->blocks) programs_.back().segments.push_back(segments_of(block));
    bytes = std::max(bytes, program->hbm_bytes);
  }
  const std::uint32_t ranks = programs.front()->ranks;
  const bool fits = memories_.size() == ranks && memories_.front().hbm_bytes() >= bytes;
  if (!fits) {  // HBM stays from program to program while it is large enough
    memories_.clear();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) memories_.emplace_back(bytes);
  }
  if (is_large(programs))
    for (Memory& memory : memories_)  // only a hint, as those of HBM
      madvise(memory.sbuf(), static_cast<std::size_t>(Memory::kSbufStride) * kPartitions, MADV_HUGEPAGE);
}

Memory& NumericDevice::memory(std::uint32_t rank) {
  base::ensure(rank < memories_.size(), "numeric device", fmt::format("rank {} of {}", rank, memories_.size()));
  return memories_[rank];
}

Progress& NumericDevice::progress_of(std::uint32_t rank) {
  return *std::ranges::find_if(programs_, [&](const Progress& p) { return p.program->runs_on(rank); });
}

void NumericDevice::run(const RunOptions& options) {
  base::ensure(!programs_.empty(), "numeric device", "run before load");
  const int host = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.host_threads > 0 ? options.host_threads : host;
  std::uint32_t at_once = 0;  // ranks that advance together
  for (const Progress& p : programs_) at_once = std::max(at_once, p.program->end_rank() - p.program->first_rank);
  if (!crew_ || crew_->threads() != threads || crew_->workers() != std::min<int>(threads, static_cast<int>(at_once)))
    crew_ = std::make_unique<Crew>(at_once, threads);
  contexts_.clear();
  for (std::uint32_t rank = 0; rank < memories_.size(); ++rank)
    contexts_.push_back({.memory = memories_[rank],
                         .bases = {},
                         .rounding = programs_.front().program->rounding,
                         .seed = options.seed,
                         .step = options.step,
                         .rank = rank});
  for (Progress& p : programs_) p = {.program = p.program, .segments = std::move(p.segments)};
  give_up_ = options.give_up;
  outside_ = memories_.size() == 1 ? options.outside : nullptr;
  for (bool any = true; any;) {
    any = false;
    for (Progress& p : programs_) any |= advance(p);
  }
  if (given_up()) return;
  if (!std::ranges::all_of(programs_, &Progress::finished)) report_deadlock();
}

/// Advances to the end, or until another program has to advance first. Returns whether there was any progress.
bool NumericDevice::advance(Progress& at) {
  bool moved = false;
  while (!at.finished()) {
    if (given_up()) return false;
    if (!at.entered) enter_call(at);
    if (!at.computed) {
      if (at.part().begin < at.part().end) run_segment(at);
      at.computed = moved = true;
    }
    if (!at.collective())
      at.next();
    else if (!meet(at))
      return moved;
    moved = true;
  }
  return moved;
}

void NumericDevice::enter_call(Progress& at) {
  for (std::uint32_t rank = at.program->first_rank; rank < at.program->end_rank(); ++rank) {
    contexts_[rank].bases = at.current().bases;
    contexts_[rank].call_rng = at.current().rng;
  }
  at.entered = true;
}

void NumericDevice::run_segment(const Progress& at) {
  const auto workers = static_cast<std::uint32_t>(crew_->workers());
  const Block& block = at.block();
  const Segment segment = at.part();
  crew_->whole()->run([&](int worker) {
    for (std::uint32_t rank = at.program->first_rank + static_cast<std::uint32_t>(worker);
         rank < at.program->end_rank(); rank += workers) {
      contexts_[rank].team = crew_->inside(worker);
      for (std::uint32_t i = segment.begin; i < segment.end; ++i)
        outside_ ? execute_counted(block, i, contexts_[rank]) : execute_at(block, i, contexts_[rank]);
    }
  });
}

/// As RunOptions::outside asks.
void NumericDevice::execute_counted(const Block& block, std::uint32_t i, Context& context) {
  const std::uint64_t before = context.memory.events().out_of_range;
  execute_at(block, i, context);
  const std::uint64_t more = context.memory.events().out_of_range - before;
  if (const auto all = more + repeated_rows(block.instrs[i], context)) (*outside_)[i] += all;
}

const std::vector<std::vector<std::uint32_t>>& NumericDevice::sets_of(const Progress& at, const Instr& instr) const {
  base::ensure(instr.group < at.program->groups.size(), "numeric device",
               fmt::format("replica group {} of {}", instr.group, at.program->groups.size()));
  return at.program->groups[instr.group];
}

/// Executes the collective that `at` has reached once all participants have arrived, and moves past it.
bool NumericDevice::meet(Progress& at) {
  const Instr& instr = *at.collective();
  for (std::uint32_t rank = at.program->first_rank; rank < at.program->end_rank(); ++rank)
    // One rank's own team when there are more threads than ranks; else the workers, which are waiting now.
    contexts_[rank].team = crew_->workers() > 1 ? crew_->whole() : crew_->inside(0);
  const bool far = std::ranges::any_of(sets_of(at, instr), [&](const auto& set) {
    const auto own = std::ranges::count_if(set, [&](std::uint32_t rank) { return at.program->runs_on(rank); });
    return own > 0 && own < static_cast<std::ptrdiff_t>(set.size());
  });
  if (far && between_two(instr.op)) {
    if (!exchange(at, instr)) return false;
    at.next();
    return true;
  }
  if (far) return meet_others(at, instr);
  execute_sets({&at}, instr);
  at.next();
  return true;
}

/// One side of pairs whose other side is another program's. A receive has to wait for the message.
bool NumericDevice::exchange(const Progress& at, const Instr& instr) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // own rank and peer
  for (const std::vector<std::uint32_t>& set : sets_of(at, instr)) {
    const std::uint32_t peer = set.at(instr.peer), own = set.at(1u - instr.peer);
    if (at.program->runs_on(own) && own != peer) pairs.emplace_back(own, peer);
  }
  if (instr.op == Opcode::kSend) {
    for (const auto& [own, peer] : pairs) execute_send(instr, contexts_[own], memories_[peer]);
    return true;
  }
  for (const auto& [own, peer] : pairs)
    if (memories_[own].inbox(peer, instr.group).empty()) return false;
  for (const auto& [own, peer] : pairs) execute_receive(instr, peer, contexts_[own]);
  return true;
}

/// The programs whose ranks share a set with ranks of `at`, or with ranks of one that does, and so on.
std::set<Progress*> NumericDevice::partners(Progress& at, const Instr& instr) {
  std::set<Progress*> out{&at};
  for (std::size_t before = 0; before < out.size();) {
    before = out.size();
    for (const std::vector<std::uint32_t>& set : sets_of(at, instr)) {
      std::set<Progress*> members;
      for (const std::uint32_t rank : set) members.insert(&progress_of(rank));
      if (std::ranges::any_of(members, [&](Progress* p) { return out.contains(p); })) out.merge(members);
    }
  }
  return out;
}

bool NumericDevice::meet_others(Progress& at, const Instr& instr) {
  const std::set<Progress*> together = partners(at, instr);
  for (const Progress* other : together) {
    const bool there = !other->finished() && other->computed && other->collective() &&
                       other->collective()->group == instr.group && !between_two(other->collective()->op);
    if (!there) return false;
  }
  execute_sets(together, instr);
  for (Progress* other : together) other->next();
  return true;
}

/// All sets that have ranks of these programs.
void NumericDevice::execute_sets(const std::set<Progress*>& together, const Instr& instr) {
  for (const std::vector<std::uint32_t>& set : sets_of(**together.begin(), instr)) {
    std::vector<Participant> group;
    for (const std::uint32_t rank : set) {
      Progress& runs = progress_of(rank);
      if (together.contains(&runs)) group.push_back({runs.collective(), &contexts_.at(rank)});
    }
    if (group.empty()) continue;
    if (between_two(instr.op)) {
      std::vector<Context*> pair;
      for (const Participant& one : group) pair.push_back(one.context);
      execute_collective(instr, pair);
    } else {
      execute_collective(group);
    }
  }
}

void NumericDevice::report_deadlock() {
  std::string text = "deadlock: no program can continue";
  for (Progress& p : programs_) {
    text += fmt::format("\n{} (ranks {} to {}) ", p.program->name, p.program->first_rank, p.program->end_rank() - 1);
    if (p.finished()) {
      text += "has ended";
      continue;
    }
    const Instr& instr = *p.collective();
    text += fmt::format("waits in call {} ({}) in {} of replica group {}", p.call, p.block().name, name_of(instr.op),
                        instr.group);
    if (instr.op == Opcode::kRecv) {
      for (const std::vector<std::uint32_t>& set : sets_of(p, instr))
        if (p.program->runs_on(set.at(1u - instr.peer)) &&
            memories_[set.at(1u - instr.peer)].inbox(set.at(instr.peer), instr.group).empty()) {
          text += fmt::format(": rank {} for rank {}", set.at(1u - instr.peer), set.at(instr.peer));
          break;
        }
    } else {
      for (const Progress* other : partners(p, instr))
        if (other != &p) text += fmt::format(", for {}", other->program->name);
    }
  }
  throw base::Error{base::Fault::kProgram, programs_.front().program->name, text,
                    "give each receive its send, in the same order on both sides"};
}

}  // namespace

void require_host() { kernels::kernels(); }

std::unique_ptr<Device> make_numeric_device() {
  require_host();
  return std::make_unique<NumericDevice>();
}

}  // namespace isa
