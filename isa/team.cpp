#include "isa/team.h"

namespace isa {
namespace {

constexpr int kSpins = 20000;  // pauses, about half a millisecond: instructions follow each other more closely

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Team::Team(int size, int threads_in_all)
    : spins_{std::max(size, threads_in_all) <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0},
      slots_(static_cast<std::size_t>(size - 1)) {
  helpers_.reserve(slots_.size());
  for (int part = 1; part < size; ++part) helpers_.emplace_back([this, part] { help(part); });
}

Team::~Team() {
  function_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

std::uint32_t Team::next_round(std::uint32_t seen) {
  std::uint32_t now = round_.load(std::memory_order_acquire);
  for (int i = 0; now == seen && i < spins_; ++i) {
    pause();
    now = round_.load(std::memory_order_acquire);
  }
  if (now == seen) {
    round_.wait(seen, std::memory_order_acquire);
    now = round_.load(std::memory_order_acquire);
  }
  return now;
}

void Team::help(int part) {
  Slot& slot = slots_[static_cast<std::size_t>(part - 1)];
  for (std::uint32_t seen = 0;;) {
    seen = next_round(seen);
    if (!function_) return;
    try {
      function_(work_, part);
    } catch (...) {
      slot.error = std::current_exception();
    }
    slot.done.store(seen, std::memory_order_release);
    if (spins_ == 0) slot.done.notify_one();
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
  for (Slot& slot : slots_) {
    for (std::uint32_t done = slot.done.load(std::memory_order_acquire); done != round;
         done = slot.done.load(std::memory_order_acquire)) {
      if (spins_ == 0)
        slot.done.wait(done, std::memory_order_acquire);
      else
        pause();
    }
    if (slot.error && !error) error = slot.error;
    slot.error = nullptr;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace isa
