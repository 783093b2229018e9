// The trnsim binary: dispatch, and the one place where an Error becomes a message and an exit code.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/terminal.h"
#include "cli/app.h"
#include "cli/options.h"
#include "cli/output.h"

namespace {

/// A program that is begun with stdin, stdout or stderr closed would get their numbers for its files, and print into
/// them.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) std::abort();  // the lowest number is taken: this one
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
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
    std::fprintf(stderr, "%s\n", base::without_controls(cli::flags_in(error.what())).c_str());
    return base::interrupted() ? base::kExitInterrupted : base::exit_code(error.fault());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "environment error: trnsim: this host has no memory left\n  fix: free some, or use a smaller job\n");
    return base::exit_code(base::Fault::kEnvironment);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "environment error: trnsim: the host refuses: %s\n  fix: raise its limits (ulimit -a)\n",
                 error.what());
    return base::exit_code(base::Fault::kEnvironment);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n  fix: please report this with the command that you ran\n", error.what());
    return base::exit_code(base::Fault::kInternal);
  }
}
