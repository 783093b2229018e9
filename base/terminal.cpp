#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <cstdlib>

namespace base {
namespace {

constexpr int kDefaultWidth = 80;

int terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

/// One character from the front of `text`: its bytes and its columns. A byte that is not UTF-8 counts as one column.
struct Glyph {
  std::size_t bytes;
  int columns;
};

Glyph first_glyph(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length <= 0) return {1, 1};
  return {static_cast<std::size_t>(length), utf8proc_charwidth(code)};
}

std::string_view cut(std::string_view text, int columns) {
  std::size_t end = 0;
  for (int used = 0; end < text.size();) {
    const Glyph glyph = first_glyph(text.substr(end));
    if (used + glyph.columns > columns) break;
    used += glyph.columns;
    end += glyph.bytes;
  }
  return text.substr(0, end);
}

bool is_live(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && (term == nullptr || std::string_view{term} != "dumb");
}

}  // namespace

int Terminal::width() const { return tty_ ? terminal_width(stream_) : 0; }

void Terminal::write_line(std::string_view text) {
  const std::lock_guard lock{mutex_};
  erase_status();
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fputc('\n', stream_);
  draw_status();
  std::fflush(stream_);
}

void Terminal::show_status(std::string_view text) {
  if (!tty_) return;
  const std::lock_guard lock{mutex_};
  erase_status();
  const std::string shown = without_controls(text);
  status_ = cut(shown, terminal_width(stream_) - 1);  // the last column would wrap on some terminals
  draw_status();
  std::fflush(stream_);
}

void Terminal::erase_status() {
  if (!status_.empty()) std::fputs("\r\033[K", stream_);
}

void Terminal::draw_status() { std::fwrite(status_.data(), 1, status_.size(), stream_); }

Terminal& stderr_terminal() {
  static Terminal terminal{stderr, is_live(stderr)};
  return terminal;
}

std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool second =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;  // U+0080-9F
    if (second)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      out += fmt::format("\\x{:02x}", c);
    else
      out += text[i];
  }
  return out;
}

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    columns += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return columns;
}

}  // namespace base
