// Stands between trnsim and the C library (LD_PRELOAD) and spoils the n-th call that changes a file, as a disk that
// fails, fills up or is slow does, or as kill -9 at that moment. Set by the environment: FAIL_IO_AT=n, FAIL_IO_HOW=EIO,
// ENOSPC, EINTR, SHORT or KILL, or the number of a signal that comes then, behind which the call succeeds;
// FAIL_IO_COUNT names a file that gets the number of calls; with FAIL_IO_FILE=NAME only writes to a file of that name
// count.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> calls{0};

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const char* how() {
  const char* text = std::getenv("FAIL_IO_HOW");
  return text ? text : "";
}

/// Whether writes to the descriptor count.
bool counts(int fd) {
  const char* name = std::getenv("FAIL_IO_FILE");
  if (name == nullptr) return true;
  char link[40], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return false;
  path[size] = 0;
  const char* last = std::strrchr(path, '/');
  return last != nullptr && std::strcmp(last + 1, name) == 0;
}

bool its_turn() {
  const char* at = std::getenv("FAIL_IO_AT");
  return ++calls == (at ? std::atoi(at) : 0);
}

/// Whether the call fails; then errno is set. `interruptible`: it may be asked for again.
bool spoiled(bool interruptible = false) {
  if (std::getenv("FAIL_IO_FILE") != nullptr || !its_turn()) return false;
  if (std::strcmp(how(), "KILL") == 0) raise(SIGKILL);
  if (std::strcmp(how(), "EIO") == 0) errno = EIO;
  if (std::strcmp(how(), "ENOSPC") == 0) errno = ENOSPC;
  if (std::strcmp(how(), "SHORT") == 0) return false;
  if (std::strcmp(how(), "EINTR") != 0) return true;
  errno = EINTR;
  return interruptible;
}

/// Cuts a write to a file: everything, half, or nothing is written.
bool spoiled_write(int fd, std::size_t& size) {
  if (!counts(fd)) return false;
  const bool turn = its_turn();
  const int signal = std::atoi(how());
  if (turn && signal > 0) kill(getpid(), signal);
  if (signal > 0) return false;
  --calls;
  if (spoiled(true)) return true;
  if (turn && std::strcmp(how(), "SHORT") == 0 && size > 1) size /= 2;
  return false;
}

struct Count {
  ~Count() {
    const char* path = std::getenv("FAIL_IO_COUNT");
    if (path == nullptr) return;
    char text[16];
    const int size = std::snprintf(text, sizeof text, "%d\n", calls.load());
    const int fd = next<int(const char*, int, int)>("open")(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (next<ssize_t(int, const void*, std::size_t)>("write")(fd, text, static_cast<std::size_t>(size)) < 0) return;
    next<int(int)>("close")(fd);
  }
} count;

int opened(const char* name, const char* path, int flags, int mode) {
  const bool changes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && std::strncmp(path, "/dev/", 5) != 0;
  if (changes && spoiled(true)) return -1;
  return next<int(const char*, int, int)>(name)(path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return opened("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return opened("open64", path, flags, mode);
}
ssize_t write(int fd, const void* bytes, std::size_t size) {
  if (fd > 2 && spoiled_write(fd, size)) return -1;
  return next<ssize_t(int, const void*, std::size_t)>("write")(fd, bytes, size);
}
ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t at) {
  if (spoiled_write(fd, size)) return -1;
  return next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t at) {
  if (spoiled_write(fd, size)) return -1;
  return next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(fd, bytes, size, at);
}
int fsync(int fd) { return spoiled() ? -1 : next<int(int)>("fsync")(fd); }
int fdatasync(int fd) { return spoiled() ? -1 : next<int(int)>("fdatasync")(fd); }
int ftruncate(int fd, off_t size) { return spoiled(true) ? -1 : next<int(int, off_t)>("ftruncate")(fd, size); }
int rename(const char* from, const char* to) {
  return spoiled() ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return spoiled() ? -1 : next<int(int, const char*, int, const char*, unsigned)>("renameat2")(a, from, b, to, flags);
}
int mkdir(const char* path, mode_t mode) {
  return spoiled() ? -1 : next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int unlink(const char* path) { return spoiled() ? -1 : next<int(const char*)>("unlink")(path); }
int unlinkat(int folder, const char* path, int flags) {
  return spoiled() ? -1 : next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}

}  // extern "C"
