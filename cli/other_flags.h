// Command lines as users have them: switches with a value, other spellings, and the flags of Hugging Face's Trainer
// that mean nothing here.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

/// `args` of `verb` as this program spells them: "--bf16 True" is "--bf16=True", "--trace_steps" is "--trace-steps",
/// "--gradient_checkpointing" is "--recompute full". Trainer flags that no simulation reads are left
/// out, with one line on stderr. Errors: Fault::kUsage for a value that is neither true nor false.
std::vector<std::string> our_flags(const CLI::App& verb, const std::vector<std::string>& args);

}  // namespace cli
