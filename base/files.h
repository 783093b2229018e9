// Files: read whole, write so that nothing half-written is left, find the program's data.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"

namespace base {

/// open(2), with O_CLOEXEC and the usual permissions, and fsync(2), which signals do not end.
int opened(const std::filesystem::path& path, int flags);
int synced(int fd);

/// The bytes of a file. Errors: Fault::kData when it is missing, a folder, a pipe that no process writes to, or cannot
/// be read.
std::string read_file(const std::filesystem::path& path);

/// Writes to a temporary file beside `path`, and puts it in place by commit() only: readers see the old file or the new
/// one, never a part. An object that ends without commit() leaves nothing; remnants of the same file from a killed
/// process are removed. All errors: Fault::kEnvironment.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Small pieces are gathered: an error may come with a later one, or with commit().
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }
  /// Replaces text written earlier, `at` bytes from the start.
  void write_at(std::size_t at, std::string_view text);
  /// fsync, rename, fsync of the folder.
  void commit();

 private:
  [[noreturn]] void fail(std::string_view doing) const;
  void write_all(std::span<const std::byte> bytes) const;
  void flush();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  std::vector<std::byte> gathered_;
  HoldInterrupts hold_;  // no temporary file stays behind
};

/// AtomicFile in one call. Errors: Fault::kEnvironment.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Creates `path` and its parents for the results of a run. Errors: Fault::kUsage when it exists with anything in it
/// and `overwrite` is false, or is not a folder; Fault::kEnvironment when it cannot be created or written to. With
/// `overwrite` nothing is deleted: files of the same name are replaced as they are written.
void make_output_folder(const std::filesystem::path& path, bool overwrite);

/// Removes a folder, and the parents that were made with it, if nothing was put into it: a run that fails leaves no
/// empty folder. To be made before the folder is.
class FolderIfUsed {
 public:
  explicit FolderIfUsed(std::filesystem::path path);
  ~FolderIfUsed();
  FolderIfUsed(const FolderIfUsed&) = delete;
  FolderIfUsed& operator=(const FolderIfUsed&) = delete;

 private:
  std::vector<std::filesystem::path> missing_;  // the folder, its parent and so on, as far as they are not there yet
};

/// Locks an existing folder until the object is destroyed or the process dies. File systems without locks lock
/// nothing. Errors: Fault::kUsage when another process has it; Fault::kEnvironment when it cannot be opened.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

/// A folder that replaces another one as a whole: it is filled as `place`.new, and commit() exchanges the two
/// in one step, so that a process that dies at any moment leaves the old folder or the new one in `place`. The next one
/// clears the remnants beside it. Errors: Fault::kEnvironment.
class ReplacedFolder {
 public:
  explicit ReplacedFolder(std::filesystem::path place);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void commit();

 private:
  std::filesystem::path place_, path_;
  HoldInterrupts hold_;
};

/// A folder with a unique name: `path`, or `path`-2, -3 and so on when that is taken; two processes that start in the
/// same second get two. Removed again, with the parents it created, when nothing was written into it. Errors:
/// Fault::kEnvironment when it cannot be created.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path parent_;  // made here; empty: it was there
};

/// A data file of the program, such as "hw/params/trn1.2xlarge.toml": beside the binary, in
/// ../share/trnsim of it, in $TRNSIM_HOME, in share/trnsim of the installed package that the program was built with, or
/// in the source tree; the first that exists.
/// Errors: Fault::kEnvironment naming every place looked at.
std::filesystem::path data_path(std::string_view relative);
/// The files with this ending in a folder of such, in the order of their names: those of all the places together, and
/// of a name that several have the first.
std::vector<std::filesystem::path> data_files(std::string_view folder, std::string_view ending);

}  // namespace base
