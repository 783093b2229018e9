// The command line as a tree of CLI11 apps, and the parts common to all verbs.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace cli {

/// The whole tree: every verb with its options. A verb acts in its final callback, after the whole line was checked.
std::unique_ptr<CLI::App> make_app();

/// Parses and acts. Returns 0, or kExitInterrupted after Ctrl-C. Errors: base::Error (Fault::kUsage for input that the
/// parser refuses, with the nearest flag), ClosedPipe.
int dispatch(int argc, const char* const* argv);

}  // namespace cli
