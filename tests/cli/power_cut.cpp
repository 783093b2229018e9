// A file system below trnsim that loses power (LD_PRELOAD): unsynced data is gone. Before the n-th call that
// changes a file below POWER_CUT_ROOT, files get the content that they had when they were last synced (none, if never),
// and with POWER_CUT_HOW=NAMES names that were made, moved or removed since their folder was last synced are as before;
// then the process is killed. With DATA names are kept: a journal of metadata. POWER_CUT_AT=n; POWER_CUT_COUNT names a
// file that gets the number of calls.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const std::string& setting(const char* name) {
  static std::map<std::string, std::string>* all = new std::map<std::string, std::string>;
  const auto [at, added] = all->try_emplace(name);
  if (const char* text = std::getenv(name); added && text != nullptr) at->second = text;
  return at->second;
}

std::string content(const std::string& path) {
  std::string out;
  const int fd = static_cast<int>(syscall(SYS_open, path.c_str(), O_RDONLY));
  char part[65536];
  for (ssize_t n = 0; fd >= 0 && (n = syscall(SYS_read, fd, part, sizeof part)) > 0;) out.append(part, part + n);
  if (fd >= 0) syscall(SYS_close, fd);
  return out;
}

void put(const std::string& path, const std::string& bytes) {
  const int fd = static_cast<int>(syscall(SYS_open, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
  for (std::size_t at = 0; fd >= 0 && at < bytes.size();)
    at += static_cast<std::size_t>(syscall(SYS_write, fd, bytes.data() + at, bytes.size() - at));
  if (fd >= 0) syscall(SYS_close, fd);
}

bool exists(const std::string& path) { return syscall(SYS_access, path.c_str(), F_OK) == 0; }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// The disk as it would be found.
class Disk {
 public:
  static Disk& get() {
    static Disk* disk = new Disk;  // outlives every destructor that writes a file
    return *disk;
  }

  /// The path below the root, or nothing.
  static std::string inside(const char* path) {
    if (path == nullptr || setting("POWER_CUT_ROOT").empty()) return {};
    std::string out = path;
    if (out.front() != '/') {
      char here[4096];
      if (getcwd(here, sizeof here) == nullptr) return {};
      out = std::string{here} + "/" + out;
    }
    return out.starts_with(setting("POWER_CUT_ROOT")) ? out : std::string{};
  }
  static std::string of(int fd) {
    char path[4096];
    const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path - 1);
    return size > 0 ? inside(std::string(path, path + size).c_str()) : std::string{};
  }

  void call() {
    const std::lock_guard lock{mutex_};
    if (++calls_ == std::atol(setting("POWER_CUT_AT").c_str())) cut();
  }
  void opened(const std::string& path, bool truncates) {
    const std::lock_guard lock{mutex_};
    if (!exists(path)) undo_.push_back({folder_of(path), [path] { unlinkat(AT_FDCWD, path.c_str(), 0); }});
    if (!synced_.contains(path)) synced_[path] = truncates || !exists(path) ? "" : content(path);
  }
  void synced(const std::string& path) {
    const std::lock_guard lock{mutex_};
    if (synced_.contains(path)) synced_[path] = content(path);
    std::erase_if(undo_, [&](const auto& one) { return one.first == path; });
  }
  void renamed(const std::string& from, const std::string& to) {
    const std::lock_guard lock{mutex_};
    const bool was = exists(to);
    const std::string old = synced_.contains(to) ? synced_[to] : was ? content(to) : "";
    undo_.push_back({folder_of(to), [=] {
                       syscall(SYS_rename, to.c_str(), from.c_str());
                       if (was) put(to, old);
                     }});
    move(from, to);
  }
  void exchanged(const std::string& a, const std::string& b) {
    const std::lock_guard lock{mutex_};
    undo_.push_back({folder_of(b), [=] { syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2); }});
    move(a, a + "\1"), move(b, a), move(a + "\1", b);
  }
  void removed(const std::string& path) {
    const std::lock_guard lock{mutex_};
    const std::string old = synced_.contains(path) ? synced_[path] : content(path);
    undo_.push_back({folder_of(path), [=] { put(path, old); }});
    synced_.erase(path);
  }
  void made(const std::string& path) {
    const std::lock_guard lock{mutex_};
    undo_.push_back({folder_of(path), [=] { syscall(SYS_rmdir, path.c_str()); }});
  }
  long calls() const { return calls_; }

 private:
  /// A file, or all files of a folder.
  void move(const std::string& from, const std::string& to) {
    std::map<std::string, std::string> out;
    for (auto& [path, bytes] : synced_) {
      const bool moves = path == from || path.starts_with(from + "/");
      out[moves ? to + path.substr(from.size()) : path] = bytes;
    }
    synced_ = std::move(out);
  }
  [[noreturn]] void cut() {
    for (const auto& [path, bytes] : synced_)
      if (exists(path) && content(path) != bytes) put(path, bytes);
    if (setting("POWER_CUT_HOW") == "NAMES")
      for (auto one = undo_.rbegin(); one != undo_.rend(); ++one) one->second();
    raise(SIGKILL);
    _exit(137);
  }

  std::mutex mutex_;
  std::map<std::string, std::string> synced_;                        // of files that were opened to be written
  std::vector<std::pair<std::string, std::function<void()>>> undo_;  // by the folder whose sync settles it
  long calls_ = 0;
};

struct Count {
  ~Count() {
    if (!setting("POWER_CUT_COUNT").empty())
      put(setting("POWER_CUT_COUNT"), std::to_string(Disk::get().calls()) + "\n");
  }
} count;

int opened(const char* name, const char* path, int flags, int mode) {
  const std::string inside = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 ? Disk::inside(path) : std::string{};
  if (!inside.empty()) Disk::get().call(), Disk::get().opened(inside, (flags & O_TRUNC) != 0);
  return next<int(const char*, int, int)>(name)(path, flags, mode);
}

void changes(int fd) {
  if (fd > 2 && !Disk::of(fd).empty()) Disk::get().call();
}

int synced(const char* name, int fd) {
  const std::string path = Disk::of(fd);
  if (!path.empty()) Disk::get().call(), Disk::get().synced(path);
  return next<int(int)>(name)(fd);
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
FILE* fopen(const char* path, const char* mode) {
  const std::string inside = std::strpbrk(mode, "wa+") ? Disk::inside(path) : std::string{};
  if (!inside.empty()) Disk::get().call(), Disk::get().opened(inside, *mode == 'w');
  return next<FILE*(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }
ssize_t write(int fd, const void* bytes, std::size_t size) {
  changes(fd);
  return next<ssize_t(int, const void*, std::size_t)>("write")(fd, bytes, size);
}
ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t at) {
  changes(fd);
  return next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t at) {
  changes(fd);
  return next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(fd, bytes, size, at);
}
int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
int rename(const char* from, const char* to) {
  const std::string a = Disk::inside(from), b = Disk::inside(to);
  if (!b.empty()) Disk::get().call(), Disk::get().renamed(a, b);
  return next<int(const char*, const char*)>("rename")(from, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  const std::string one = Disk::inside(from), two = Disk::inside(to);
  const bool both = !two.empty() && exists(one) && exists(two);
  if (!two.empty()) Disk::get().call();
  const int done = next<int(int, const char*, int, const char*, unsigned)>("renameat2")(a, from, b, to, flags);
  if (done == 0 && both) Disk::get().exchanged(one, two);
  return done;
}
int mkdir(const char* path, mode_t mode) {
  const std::string inside = Disk::inside(path);
  if (!inside.empty()) Disk::get().call();
  const int done = next<int(const char*, mode_t)>("mkdir")(path, mode);
  if (done == 0 && !inside.empty()) Disk::get().made(inside);
  return done;
}
int unlink(const char* path) {
  const std::string inside = Disk::inside(path);
  if (!inside.empty()) Disk::get().call(), Disk::get().removed(inside);
  return next<int(const char*)>("unlink")(path);
}

}  // extern "C"
