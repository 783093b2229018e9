// Ctrl-C, SIGTERM, a terminal that hangs up, a reader that closes the pipe: what has something to save polls a flag,
// saves it and ends with exit code 130; everything else ends at once.
#pragma once

namespace base {

inline constexpr int kExitInterrupted = 130;

/// From now on SIGINT, SIGTERM and SIGHUP end the process with exit code 130; while a HoldInterrupts lives, the first
/// of them raises the flag instead. A SIGHUP that was already ignored (nohup) stays ignored.
void catch_interrupts();
/// For causes other than a signal, such as a pipe whose reader is gone: raises the flag while a HoldInterrupts lives.
/// Otherwise does nothing and returns false.
bool interrupt();
/// True once a signal came. Cheap enough for inner loops; safe from any thread.
bool interrupted();

/// For what must come to an orderly end: a training that writes its checkpoint, a file that is half-written.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;
};

}  // namespace base
