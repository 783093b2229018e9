#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace base {
namespace {

std::atomic<bool> raised{false};
std::atomic<int> holders{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may use them");

void on_signal(int) {
  if (raised.exchange(true) || holders.load() == 0) _exit(kExitInterrupted);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes continue; the loops poll
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ensure(sigaction(signal, nullptr, &before) == 0, "catch_interrupts", "sigaction failed");
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    ensure(sigaction(signal, &action, nullptr) == 0, "catch_interrupts", "sigaction failed");
  }
}

bool interrupt() {
  if (holders.load() == 0) return false;
  raised = true;
  return true;
}

HoldInterrupts::HoldInterrupts() { ++holders; }
HoldInterrupts::~HoldInterrupts() { --holders; }

bool interrupted() { return raised.load(std::memory_order_relaxed); }

}  // namespace base
