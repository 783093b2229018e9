// HLO text: `HloModule name ... ENTRY main { ... }`, as XLA prints it, in its long and its short form.
#pragma once

#include <string>
#include <string_view>

#include "frontend/hlo/module.h"

namespace trnsim::frontend::hlo {

/// Errors: base::Fault::kData at "FILE:LINE" for text that is no HLO or names what is not there.
Module read_text(std::string_view text, std::string_view file);
/// Text that read_text() makes the same module of.
std::string write_text(const Module& module);
/// "bf16[4,8]{1,0}", "(f32[], s32[])"; without the layout: "bf16[4,8]".
std::string text_of(const Shape& shape, bool with_layout = true);

}  // namespace trnsim::frontend::hlo
