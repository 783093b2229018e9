// The trnsim binary: dispatch, and the one place where an Error becomes a message and an exit code.
#include <malloc.h>

#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/app.h"
#include "cli/options.h"
#include "cli/output.h"

int main(int argc, char** argv) {
  // The compiler takes and gives back large arrays all the time. Measured: a quarter of its time was spent on their
  // pages.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), see cli::print
  base::catch_interrupts();
  try {
    return cli::dispatch(argc, argv);
  } catch (const cli::ClosedPipe&) {
    return 0;
  } catch (const base::Error& error) {
    std::fflush(stdout);  // what was printed before the error stays printed
    std::fprintf(stderr, "%s\n", cli::flags_in(error.what()).c_str());
    return base::interrupted() ? base::kExitInterrupted : base::exit_code(error.fault());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n  fix: please report this with the command that you ran\n", error.what());
    return base::exit_code(base::Fault::kInternal);
  }
}
