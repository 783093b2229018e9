// Ctrl-C: long loops poll a flag, write their checkpoint and end with exit code 130.
#pragma once

namespace base {

inline constexpr int kExitInterrupted = 130;

/// Makes SIGINT and SIGTERM raise the flag. A second signal ends the process at once with exit code 130.
void catch_interrupts();
/// True once a signal came. Cheap enough for inner loops; safe from any thread.
bool interrupted();

}  // namespace base
