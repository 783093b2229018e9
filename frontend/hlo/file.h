// HLO in files: text, proto, either compressed by gzip, and the folders of the Neuron compile cache.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// The content of a compressed file. Errors: base::Fault::kData for broken bytes, or more than 4 GiB of them.
std::string unzipped(std::string_view bytes, std::string_view file);
/// Whether the bytes begin as those of a compressed file do.
bool is_zipped(std::string_view bytes);
/// A proto has signs that no text has.
bool is_proto(std::string_view bytes);
/// Text or proto, by its content. Errors: as read_text(), read_proto(), unzipped().
Module read_bytes(std::string_view bytes, std::string_view file);
Module read_file(const std::filesystem::path& path);

/// A module of the compile cache: neuronxcc-VERSION/MODULE_<hash>+<flags>/model.hlo_module.pb.
struct CachedModule {
  std::filesystem::path file;
  std::string name;                // "MODULE_1234+abcd"
  std::vector<std::string> flags;  // of compile_flags.json; empty: there is none
  bool compiled = false;           // a model.neff is beside it
};

/// The modules below a folder, by name: the folder of one module, of a compiler's version, or of the whole cache.
/// Errors: base::Fault::kData when there is none, with `fix`, or the flags are no JSON list.
std::vector<CachedModule> modules_of(
    const std::filesystem::path& folder,
    const std::string& fix = "give a folder with MODULE_.../model.hlo_module.pb below it");

}  // namespace trnsim::frontend::hlo
