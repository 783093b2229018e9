// HloModuleProto: the form of modules in torch-neuronx's compile cache, which neuronx-cc reads.
// Source of all field numbers: hlo.proto and xla_data.proto of openxla/xla.
#pragma once

#include <string>
#include <string_view>

#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// Errors: base::Fault::kData at FILE, with the instruction's name, for bytes that are no such proto.
Module read_proto(std::string_view bytes, std::string_view file);
/// Bytes that read_proto() makes the same module of.
std::string write_proto(const Module& module);

}  // namespace trnsim::frontend::hlo
