// Programs compiled earlier: a folder with one file each, named by a hash of everything that decides it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/compiler/compile.h"

namespace runtime {

struct CacheUse {
  std::uint64_t found = 0, compiled = 0;
};

/// A folder of compiled programs. Threads and processes may share one: files are put in place whole.
class ProgramCache {
 public:
  /// Errors: Fault::kEnvironment when the folder cannot be made.
  explicit ProgramCache(std::filesystem::path folder);

  /// The program from the folder, or from `compile`. A damaged file is compiled again, a folder that cannot be written
  /// to keeps nothing; both with a warning.
  Compiled get(const Graph& graph, const isa::Target& target, const CompileOptions& options,
               const std::function<Compiled()>& compile);

  /// Counts since it was opened.
  CacheUse use() const { return {found_, compiled_}; }

 private:
  std::filesystem::path folder_;
  std::atomic<std::uint64_t> found_ = 0, compiled_ = 0;
};

/// Everything that decides a program: the graph, the target, the options, and the code that compiles (another build may
/// compile otherwise): of the binary, or of the Python module.
std::uint64_t program_key(const Graph& graph, const isa::Target& target, const CompileOptions& options);

/// A program as the bytes of a file, and back. Errors: Fault::kData at `where` when they are cut short or changed.
std::string write_compiled(const Compiled& compiled);
Compiled read_compiled(std::string_view bytes, const std::string& where);

}  // namespace runtime
