#include "isa/exec/thread_team.h"

#include <unistd.h>

#include <new>

#include "base/error.h"

namespace isa {
namespace {

constexpr int kSpins = 20000;    // pauses, about half a millisecond: instructions follow each other more closely
constexpr int kPatience = 2000;  // pauses after which the host may have descheduled a working thread

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void wait_until(const std::atomic<std::uint32_t>& done, std::uint32_t round) {
  for (int i = 0; done.load(std::memory_order_acquire) != round; ++i) {
    if (i < kPatience)
      pause();
    else
      std::this_thread::yield();
  }
}

std::size_t slots_of(int size) {
  base::ensure(size >= 1, "isa::Team", "it has no thread");
  return static_cast<std::size_t>(size - 1);
}

}  // namespace

Team::Team(int size, int threads_in_all)
    : spins_{std::max(size, threads_in_all) <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0},
      process_{::getpid()},
      slots_(slots_of(size)) {
  helpers_.reserve(slots_.size());
  for (int part = 1; part < size; ++part) helpers_.emplace_back([this, part] { help(part); });
}

Team::~Team() {
  if (process_ != ::getpid()) {
    // The handles name threads that are not here, or others that have got their stacks since: no call on them is safe.
    static_cast<void>(new (std::nothrow) std::vector<std::thread>(std::move(helpers_)));
    return;
  }
  function_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

/// True for one of the threads that ask. The round cannot end between that and do_part().
bool Team::take(Slot& slot, std::uint32_t round) {
  std::uint32_t before = round - 1;
  return slot.taken.load(std::memory_order_relaxed) == before &&
         slot.taken.compare_exchange_strong(before, round, std::memory_order_acquire, std::memory_order_relaxed);
}

void Team::do_part(Slot& slot, int part, std::uint32_t round) {
  try {
    function_(work_, part);
  } catch (...) {
    slot.error = std::current_exception();
  }
  slot.done.store(round, std::memory_order_release);
}

std::uint32_t Team::next_round(std::uint32_t seen) {
  for (int i = 0; i < spins_; ++i) {
    if (const std::uint32_t now = round_.load(std::memory_order_acquire); now != seen) return now;
    pause();
  }
  round_.wait(seen, std::memory_order_acquire);
  return round_.load(std::memory_order_acquire);
}

void Team::help(int part) {
  Slot& slot = slots_[static_cast<std::size_t>(part - 1)];
  for (std::uint32_t round = 0;;) {
    round = next_round(round);
    if (!take(slot, round)) continue;  // late
    if (!function_) return;
    do_part(slot, part, round);
  }
}

void Team::run(Function function, const void* work) {
  function_ = function;
  work_ = work;
  const std::uint32_t round = round_.fetch_add(1, std::memory_order_release) + 1;
  round_.notify_all();
  std::exception_ptr error;
  try {
    function(work, 0);
  } catch (...) {
    error = std::current_exception();
  }
  for (int part = 1; part < size(); ++part)
    if (Slot& slot = slots_[static_cast<std::size_t>(part - 1)]; take(slot, round)) do_part(slot, part, round);
  for (Slot& slot : slots_) {
    wait_until(slot.done, round);
    if (slot.error && !error) error = slot.error;
    slot.error = nullptr;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace isa
