#include "runtime/graph/tensor.h"

namespace runtime {

// One thread's loops over numbers, in which nearly all of a reference's time goes: a race detector that looks at each
// access would take 50 times as long. It still sees the writers and readers of tensors.
[[gnu::no_sanitize("thread")]] double dot(const float* a, const float* b, std::int64_t n, std::int64_t a_step,
                                          std::int64_t b_step) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i * a_step]) * b[i * b_step];
  return sum;
}

[[gnu::no_sanitize("thread")]] void add_scaled(float* to, double scale, const float* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += static_cast<float>(scale * from[i]);
}

}  // namespace runtime
