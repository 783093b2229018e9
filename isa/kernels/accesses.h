// Reports a kernel's reads and writes to the thread sanitizer once per call: checking each access of the inner loops
// would take 50 times as long. For isa/kernels/target_*.cpp only, which cmake/kernels.cmake compiles without it.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef TRNSIM_ACCESSES_BY_CALL
extern "C" {
void __tsan_read_range(void* first, unsigned long bytes);
void __tsan_write_range(void* first, unsigned long bytes);
}
#endif

namespace isa::kernels {
namespace {

template <class T>
inline void reads([[maybe_unused]] const T* first, [[maybe_unused]] std::size_t n) {
#ifdef TRNSIM_ACCESSES_BY_CALL
  __tsan_read_range(const_cast<T*>(first), n * sizeof(T));
#endif
}
template <class T>
inline void writes([[maybe_unused]] T* first, [[maybe_unused]] std::size_t n) {
#ifdef TRNSIM_ACCESSES_BY_CALL
  __tsan_write_range(first, n * sizeof(T));
#endif
}

/// Reports a read of `bytes` bytes in each of `rows` rows, `stride` bytes apart.
inline void reads_rows([[maybe_unused]] const std::byte* first, [[maybe_unused]] std::int64_t stride,
                       [[maybe_unused]] int rows, [[maybe_unused]] int bytes) {
#ifdef TRNSIM_ACCESSES_BY_CALL
  for (int r = 0; r < rows; ++r) reads(first + r * stride, static_cast<std::size_t>(bytes));
#endif
}
inline void writes_rows([[maybe_unused]] std::byte* first, [[maybe_unused]] std::int64_t stride,
                        [[maybe_unused]] int rows, [[maybe_unused]] int bytes) {
#ifdef TRNSIM_ACCESSES_BY_CALL
  for (int r = 0; r < rows; ++r) writes(first + r * stride, static_cast<std::size_t>(bytes));
#endif
}

}  // namespace
}  // namespace isa::kernels
