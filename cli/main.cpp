// The trnsim binary: dispatch, and the one place where an Error becomes a message and an exit code.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
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

int report(const base::Error& error) {
  std::fflush(stdout);  // output before the error stays printed
  std::fprintf(stderr, "%s\n", base::without_controls(cli::flags_in(error.what())).c_str());
  return base::exit_code(error.fault());
}

constexpr const char* kNoMemory =
    "environment error: trnsim: this host has no memory left\n  fix: free some, or use a smaller job\n";

std::atomic<bool> memory_ended{false};

void note_end_of_memory() {
  memory_ended = true;
  throw std::bad_alloc{};
}

/// Memory may end in a function of a library that is noexcept, or in a thread that hands nothing on: the end is that of
/// any other place. Which exception it was is not known here.
[[noreturn]] void end_without_memory() {
  if (!memory_ended) std::abort();
  std::fputs(kNoMemory, stderr);
  _exit(base::exit_code(base::Fault::kEnvironment));
}

/// The exit code of a verb that has ended with `code`.
int with_lost_output(int code) {
  const auto lost = cli::lost_output();
  return lost ? report(*lost) : code;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  std::set_new_handler(note_end_of_memory);
  std::set_terminate(end_without_memory);
  // The compiler takes and gives back large arrays all the time. Measured: a quarter of its time was spent on their
  // pages.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  setenv("SYSTEMC_MEMPOOL_DONT_USE", "1", 0);  // SystemC's own pool does not look whether there was memory
  std::signal(SIGPIPE, SIG_IGN);               // a closed pipe is an error of write(), see cli::print
  base::catch_interrupts();
  try {
    return with_lost_output(cli::dispatch(argc, argv));
  } catch (const cli::ClosedPipe&) {
    return 0;
  } catch (const base::Error& error) {
    const int code = report(error);
    return base::interrupted() ? with_lost_output(base::kExitInterrupted) : code;
  } catch (const std::bad_alloc&) {  // whose report must not need memory
    std::fputs(kNoMemory, stderr);
    return base::exit_code(base::Fault::kEnvironment);
  } catch (const std::filesystem::filesystem_error& error) {
    return report({base::Fault::kEnvironment, "trnsim", error.what(), "choose another path, or check its permissions"});
  } catch (const std::system_error& error) {
    return report({base::Fault::kEnvironment, "trnsim", error.what(), "raise the limits of this host (ulimit -a)"});
  } catch (const std::exception& error) {
    return report({base::Fault::kInternal, "trnsim", error.what(), "please report this with the command that you ran"});
  }
}
