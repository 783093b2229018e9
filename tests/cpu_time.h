// Limits of time in tests: by the processors' time, which does not count what other processes of the host do.
#pragma once

#include <sys/resource.h>

namespace tests {

/// Seconds that the processors worked for this process, and for those of its children that it has waited for.
inline double cpu_seconds() {
  const auto seconds = [](int who) {
    rusage used{};
    getrusage(who, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  return seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN);
}

/// Counts from its beginning.
class CpuTime {
 public:
  double seconds() const { return cpu_seconds() - begin_; }

 private:
  double begin_ = cpu_seconds();
};

}  // namespace tests
