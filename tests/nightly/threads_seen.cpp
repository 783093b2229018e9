// Stands between a test's processes and the C library (LD_PRELOAD) and adds the test's name to the file that
// TRNSIM_THREADS_SEEN names when one of them starts a thread. The processes that a test starts have its name from the
// environment.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace {

constexpr const char* kTest = "TRNSIM_TEST_NAME";

__attribute__((constructor)) void keep_name() {
  constexpr std::string_view flag = "--gtest_filter=";
  std::ifstream words{"/proc/self/cmdline"};
  for (std::string word; std::getline(words, word, '\0');)
    if (word.starts_with(flag)) setenv(kTest, word.c_str() + flag.size(), 1);
}

/// A line at once, so that lines of several processes do not mix.
void tell() {
  static std::atomic<bool> told{false};
  const char *path = std::getenv("TRNSIM_THREADS_SEEN"), *test = std::getenv(kTest);
  if (!path || !test || told.exchange(true)) return;
  const std::string line = std::string{test} + '\n';
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  close(file);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  tell();
  return create(thread, attributes, run, given);
}
