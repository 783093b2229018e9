// Stands before the C library (LD_PRELOAD) and lets the n-th allocation since the beginning of main() fail, once, as on
// a host whose memory is full at that moment. Set by the environment: FAIL_ALLOC_AT=n; FAIL_ALLOC_COUNT names a file
// that gets the number of allocations. main() begins with mallopt().
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT: glibc's own names
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* old, std::size_t size);               // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace {

std::atomic<bool> begun{false};
std::atomic<long> calls{0};
long fails_at = 0;

bool spoiled() {
  if (!begun.load(std::memory_order_relaxed) || ++calls != fails_at) return false;
  errno = ENOMEM;
  return true;
}

struct Count {
  ~Count() {
    begun = false;
    const char* path = std::getenv("FAIL_ALLOC_COUNT");
    if (path == nullptr) return;
    char text[24];
    const int size = std::snprintf(text, sizeof text, "%ld\n", calls.load());
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (write(fd, text, static_cast<std::size_t>(size)) < 0) return;
    close(fd);
  }
} count;

}  // namespace

extern "C" {

int mallopt(int parameter, int value) {
  const char* at = std::getenv("FAIL_ALLOC_AT");
  fails_at = at ? std::atol(at) : 0;
  begun = true;
  return reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "mallopt"))(parameter, value);
}
void* malloc(std::size_t size) { return spoiled() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) { return spoiled() ? nullptr : __libc_calloc(n, size); }
void* realloc(void* old, std::size_t size) { return size > 0 && spoiled() ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return spoiled() ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return spoiled() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (spoiled()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

}  // extern "C"
