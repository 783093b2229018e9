#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/table_text.h"

namespace cli {
namespace {

base::Error refused(int why) {
  return {base::Fault::kEnvironment, "stdout", std::strerror(why), "free space, or send the output elsewhere"};
}

/// Work in progress for the disk is not thrown away because the reader of its tables is gone: it is asked to
/// end.
void require(bool done) {
  if (done || base::interrupt() || base::interrupted()) return;
  if (errno == EPIPE) throw ClosedPipe{};
  throw refused(errno);
}

/// The size of the terminal that shows stdout; zeros: there is none, or it does not say.
winsize terminal_size() {
  winsize size{};
  if (!on_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

void print(std::string_view text) { require(std::fwrite(text.data(), 1, text.size(), stdout) == text.size()); }

int columns() {
  if (const char* told = std::getenv("COLUMNS")) return std::max(0, std::atoi(told));
  return terminal_size().ws_col;
}

int rows() { return terminal_size().ws_row; }

bool on_terminal() { return isatty(STDOUT_FILENO) == 1; }

void print_next(const std::string& text) {
  if (!on_terminal()) return;
  for (const std::string& line : base::wrapped("next: " + text, columns())) print(line + "\n");
}

std::optional<base::Error> lost_output() {
  if (std::ferror(stdout) == 0) return std::nullopt;
  // Why is forgotten: one more byte says it again.
  if ((std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0) || errno == EPIPE) return std::nullopt;
  return refused(errno);
}

void flush() { require(std::fflush(stdout) == 0); }

}  // namespace cli
