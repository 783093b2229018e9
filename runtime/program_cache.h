// Programs that were compiled before: a folder with a file for each, named by a hash of all that decides it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/compile.h"

namespace runtime {

/// From now on compile() looks there first, and leaves there what it compiles. Errors: Fault::kEnvironment when the
/// folder cannot be made. Several processes may share a folder: files are put in place whole. An empty path: nowhere.
void use_program_cache(const std::filesystem::path& folder);

bool has_program_cache();

struct CacheUse {
  std::uint64_t found = 0, compiled = 0;
};
/// Of this process. All 0 without a folder.
CacheUse program_cache_use();

/// What decides a program: the graph, the target, the options, and the binary that compiles (another one may compile
/// otherwise).
std::uint64_t program_key(const Graph& graph, const isa::Target& target, const CompileOptions& options);

/// A program as the bytes of a file, and back. Errors: Fault::kData at `where` when they are cut short or changed.
std::string write_compiled(const Compiled& compiled);
Compiled read_compiled(std::string_view bytes, const std::string& where);

/// The program from the cache, or from `compile`. Errors: as read_compiled(); Fault::kEnvironment when the new file
/// cannot be written.
Compiled through_cache(const Graph& graph, const isa::Target& target, const CompileOptions& options,
                       const std::function<Compiled()>& compile);

}  // namespace runtime
