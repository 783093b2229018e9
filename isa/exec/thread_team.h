// Host threads that split one piece of work: a fork and a join in well under a microsecond.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace isa {

/// `size` threads, the caller among them. Each part of a piece of work has its own thread, so that data stays in one
/// processor's cache; the caller takes over the parts of helpers that the host does not run just then. Helpers spin
/// between pieces of work for a while and then sleep; they sleep at once when the host has fewer processors than
/// `threads_in_all` (spinning would slow down working threads).
class Team {
 public:
  /// `threads_in_all`: of all teams of the process that work at the same time. Errors: base::Fault::kInternal when
  /// `size` is below 1.
  explicit Team(int size, int threads_in_all = 0);
  /// In a forked child, which has none of the helpers of its parent's team, it only forgets them; run() works there.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls work(part) once for each part in [0, size()), part 0 on the caller's thread; returns when all are done.
  /// Parts must not wait for each other. Rethrows the exception of the lowest part that threw.
  template <class Work>
  void run(const Work& work) {
    run([](const void* w, int part) { (*static_cast<const Work*>(w))(part); }, &work);
  }

 private:
  using Function = void (*)(const void*, int);
  /// A part other than 0: the last round in which it was taken, and in which it was done.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> taken{0}, done{0};
    std::exception_ptr error;
  };

  void run(Function function, const void* work);
  void help(int part);
  bool take(Slot& slot, std::uint32_t round);
  void do_part(Slot& slot, int part, std::uint32_t round);
  std::uint32_t next_round(std::uint32_t seen);

  const int spins_;
  const std::int64_t process_;  // that has the helpers
  alignas(64) std::atomic<std::uint32_t> round_{0};
  Function function_ = nullptr;  // of the round; null: end
  const void* work_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<std::thread> helpers_;
};

/// Calls body(begin, end) for parts of [0, count), on the team when there is one and the work is `worth` it.
template <class Body>
void split(Team* team, std::int64_t count, bool worth, const Body& body) {
  if (!team || !worth || team->size() == 1 || count < 2) {
    body(std::int64_t{0}, count);
    return;
  }
  const std::int64_t size = team->size();
  team->run([&](int part) {
    const std::int64_t begin = count * part / size, end = count * (part + 1) / size;
    if (begin < end) body(begin, end);
  });
}

}  // namespace isa
