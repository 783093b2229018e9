#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace base {

/// The data folder of the installed package: defined by programs that find_package(trnsim) builds, and by no other
/// (cmake/data_folder.cpp).
[[gnu::weak]] const char* installed_data_folder();

namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

std::string fix_for(int error) {
  if (error == ENOSPC || error == EDQUOT) return "free some space or choose another place";
  if (error == EACCES || error == EPERM || error == EROFS) return "choose a place that you may write to";
  if (error == ENOENT || error == ENOTDIR) return "create the folder first";
  return "choose another place";
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path{"."}; }

void sync_folder(const fs::path& path) {
  if (const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
    synced(folder);
    close(folder);
  }
}

constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kReadPart = std::size_t{1} << 16;     // a pipe holds as much
constexpr std::size_t kGathered = std::size_t{1} << 18;     // smaller pieces are written together
constexpr std::size_t kMostUnknown = std::size_t{1} << 29;  // of a pipe or a device, which may never end

/// Removes temporary files of `path` whose writers are gone: a writer locks its own.
void remove_left(const fs::path& path) {
  const std::string begin = path.filename().string() + ".";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder_of(path), error}) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(kTemporary)) continue;
    const int fd = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
    close(fd);
  }
}

[[noreturn]] void cannot(std::string_view doing, const fs::path& path, int error) {
  throw Error{Fault::kEnvironment, path.string(), fmt::format("cannot {}: {}", doing, reason(error)), fix_for(error)};
}

/// A file to read, opened without waiting: a pipe that nothing writes to would hold its reader for ever.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path) : path_{path}, fd_{opened(path, O_RDONLY | O_NONBLOCK)} {
    if (fd_ < 0) throw Error{Fault::kData, path.string(), reason(errno), "check the path and its permissions"};
    fstat(fd_, &status_);
    awaits_writer_ = S_ISFIFO(status_.st_mode);
    if (!S_ISDIR(status_.st_mode)) return;
    close(fd_);
    throw Error{Fault::kData, path.string(), "is a folder", "name a file in it"};
  }
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// 0 of a pipe, a device, and a file of /proc.
  std::size_t size() const { return S_ISREG(status_.st_mode) ? static_cast<std::size_t>(status_.st_size) : 0; }

  /// The next bytes; 0 at the end.
  std::size_t read(std::span<char> to) {
    for (;;) {
      const ssize_t got = ::read(fd_, to.data(), to.size());
      if (got > 0) awaits_writer_ = false;
      if (got > 0 || (got == 0 && !awaits_writer_)) return static_cast<std::size_t>(got);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno != EAGAIN)
        throw Error{Fault::kData, path_.string(), "cannot be read to its end", "check the disk"};
      wait(got == 0);
    }
  }

 private:
  /// Until there is something to read, or the last writer is gone. `first`: no writer is there so far.
  void wait(bool first) {
    constexpr int kPatienceMs = 1000;
    pollfd one{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = poll(&one, 1, first ? kPatienceMs : -1);
    if (ready == 0) throw Error{Fault::kData, path_.string(), "is a pipe that no process writes to", "name a file"};
    if (ready > 0) awaits_writer_ = false;
  }

  fs::path path_;
  int fd_;
  struct stat status_ {};
  bool awaits_writer_ = false;
};

void clear(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) cannot("be removed", path, error.value());
}

std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(binary.parent_path());
    folders.push_back(binary.parent_path().parent_path() / "share" / "trnsim");
  }
  if (const char* home = std::getenv("TRNSIM_HOME"); home != nullptr && *home != '\0') folders.emplace_back(home);
  if (installed_data_folder != nullptr) folders.emplace_back(installed_data_folder());
  folders.emplace_back(TRNSIM_SOURCE_DIR);
  return folders;
}

}  // namespace

int synced(int fd) {
  int result = 0;
  while ((result = fsync(fd)) != 0 && errno == EINTR) {
  }
  return result;
}

int opened(const fs::path& path, int flags) {
  int fd = 0;
  while ((fd = open(path.c_str(), flags | O_CLOEXEC, 0666)) < 0 && errno == EINTR) {
  }
  return fd;
}

std::string read_file(const fs::path& path) {
  OpenFile file{path};
  std::string content;
  // One byte more than a file has shows its end; a file that grows while it is read is read in parts.
  for (;;) {
    const std::size_t had = content.size(),
                      part = file.size() > 0 && file.size() >= had ? file.size() - had + 1 : kReadPart;
    content.resize(had + part);
    const std::size_t got = file.read(std::span{content}.subspan(had));
    content.resize(had + got);
    if (got == 0) return content;
    if (content.size() > kMostUnknown && file.size() == 0)
      throw Error{Fault::kData, path.string(), "is a pipe or a device that has not ended after 512 MiB",
                  "write it to a file first"};
  }
}

AtomicFile::AtomicFile(const fs::path& path) : path_{path} {
  static std::atomic<unsigned> counter{0};
  remove_left(path);
  struct stat status {};
  do {  // once, unless another process removes the file as a leftover
    if (fd_ >= 0) close(fd_);
    temporary_ = fmt::format("{}.{}-{}{}", path.string(), getpid(), counter++, kTemporary);
    fd_ = opened(temporary_, O_RDWR | O_CREAT | O_EXCL);
    if (fd_ < 0) fail("be created");
    flock(fd_, LOCK_EX);
  } while (fstat(fd_, &status) == 0 && status.st_nlink == 0);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail(std::string_view doing) const {
  const int error = errno;
  throw Error{Fault::kEnvironment, path_.string(), fmt::format("cannot {}: {}", doing, reason(error)), fix_for(error)};
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  ensure(fd_ >= 0, path_.string(), "written after commit");
  if (gathered_.size() + bytes.size() > kGathered) flush();
  if (bytes.size() <= kGathered)
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
  else
    write_all(bytes);
}

void AtomicFile::flush() {
  write_all(gathered_);
  gathered_.clear();
}

void AtomicFile::write_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(std::size_t at, std::string_view text) {
  ensure(fd_ >= 0, path_.string(), "written after commit");
  flush();
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd_, text.data(), text.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("be written");
    at += static_cast<std::size_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  ensure(fd_ >= 0, path_.string(), "committed twice");
  flush();
  if (synced(fd_) != 0) fail("be written to the disk");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("be moved into place");
  close(std::exchange(fd_, -1));
  // Without this the rename itself may be lost in a crash; some file systems refuse it, and then nothing is lost but
  // that.
  sync_folder(folder_of(path_));
}

void write_file(const fs::path& path, std::string_view content) {
  AtomicFile file{path};
  file.write(content);
  file.commit();
}

void make_output_folder(const fs::path& path, bool overwrite) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (exists && !fs::is_directory(path, error)) {
    throw Error{Fault::kUsage, path.string(), "exists and is not a folder", "choose another `output_dir`"};
  }
  if (exists && !overwrite && !fs::is_empty(path, error)) {
    throw Error{Fault::kUsage, path.string(), "is not empty",
                "choose another `output_dir` or add `overwrite_output_dir`"};
  }
  fs::create_directories(path, error);
  if (error) {
    throw Error{Fault::kEnvironment, path.string(), fmt::format("cannot be created: {}", error.message()),
                fix_for(error.value())};
  }
  if (access(path.c_str(), W_OK | X_OK) != 0) {
    throw Error{Fault::kEnvironment, path.string(), fmt::format("cannot be written to: {}", reason(errno)),
                fix_for(errno)};
  }
}

FolderIfUsed::FolderIfUsed(fs::path path) {
  if (!path.has_filename()) path = path.parent_path();  // a slash at its end
  std::error_code error;
  for (; !path.empty() && !fs::exists(path, error); path = path.parent_path()) missing_.push_back(path);
}

FolderIfUsed::~FolderIfUsed() {
  // rmdir takes empty folders only.
  for (const fs::path& path : missing_)
    if (rmdir(path.c_str()) != 0) return;
}

FolderLock::FolderLock(const fs::path& path) {
  fd_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) cannot("be opened", path, errno);
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(std::exchange(fd_, -1));
  throw Error{Fault::kUsage, path.string(), "is in use by another run", "wait for it, or choose another `output_dir`"};
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

ReplacedFolder::ReplacedFolder(fs::path place) : place_{std::move(place)}, path_{place_.string() + ".new"} {
  clear(path_);
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) cannot("be created", path_, error.value());
}

void ReplacedFolder::commit() {
  sync_folder(path_);
  // Without an old one, or on file systems that exchange nothing, the new one is moved; there the old one is away for a
  // moment, but never half of it.
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) cannot("be moved into place", place_, errno);
    clear(place_);
    if (rename(path_.c_str(), place_.c_str()) != 0) cannot("be moved into place", place_, errno);
  }
  sync_folder(folder_of(place_));
  clear(path_);
}

NewFolder::NewFolder(const fs::path& path) {
  std::error_code error;
  const fs::path parent = path.parent_path();
  if (!parent.empty() && fs::create_directories(parent, error)) parent_ = parent;
  path_ = path;
  // mkdir decides which process was first; for a taken name it fails with EEXIST alone.
  for (int n = 2; mkdir(path_.c_str(), 0777) != 0; ++n) {
    if (errno != EEXIST)
      throw Error{Fault::kEnvironment, path_.string(), fmt::format("cannot be created: {}", reason(errno)),
                  fix_for(errno)};
    path_ = fmt::format("{}-{}", path.string(), n);
  }
}

NewFolder::~NewFolder() {
  // rmdir takes empty folders only.
  if (rmdir(path_.c_str()) == 0 && !parent_.empty()) rmdir(parent_.c_str());
}

fs::path data_path(std::string_view relative) {
  std::string looked;
  for (const fs::path& folder : data_folders()) {
    std::error_code error;
    if (fs::exists(folder / relative, error)) return folder / relative;
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", folder.string());
  }
  throw Error{Fault::kEnvironment, relative, fmt::format("is in none of {}", looked),
              "set TRNSIM_HOME to the folder that holds it"};
}

std::vector<fs::path> data_files(std::string_view folder, std::string_view ending) {
  std::map<std::string, fs::path> found;
  for (const fs::path& place : data_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{place / folder, error})
      if (entry.path().extension() == ending) found.try_emplace(entry.path().filename(), entry.path());
  }
  std::vector<fs::path> files;
  for (auto& [name, path] : found) files.push_back(std::move(path));
  return files;
}

}  // namespace base
