// A place in the text of a program: characters, words and numbers, with the line for errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trnsim::frontend::stablehlo {

class Cursor {
 public:
  /// `line`: the number of the text's first line.
  Cursor(std::string_view text, std::string file, std::uint32_t line = 1)
      : text_{text}, file_{std::move(file)}, line_{line} {}

  /// The next character that is no blank or comment; 0 at the end.
  char peek();
  /// Whether the text goes on with this; then behind it. A word must end there.
  bool accept(std::string_view what);
  void expect(std::string_view what);
  bool at(std::string_view what);
  /// Letters, digits, '_', '$', '.', '-' within: the name of an operator, a keyword; empty: none is here.
  std::string_view word();
  /// The name behind %, @ or ^, which is read already, quoted or not.
  std::string_view name();
  std::string quoted();
  std::int64_t integer();
  /// Text of an integer or a real number, with its sign, also 0x...
  std::string_view number();
  /// The text up to the end of the bracket that begins here, with both; brackets of other kinds within it too.
  std::string_view bracketed();

  /// Goes on by as many characters, which are no line's end.
  void skip(std::size_t characters) { at_ += characters; }

  void skip_line();

  /// The text from a place that rest() gave before to here.
  std::string_view since(std::string_view earlier) const { return earlier.substr(0, earlier.size() - rest().size()); }

  bool is_end() { return peek() == 0; }
  std::uint32_t line() const { return line_; }
  std::string where() const;
  std::string_view rest() const { return text_.substr(at_); }
  const std::string& file() const { return file_; }
  [[noreturn]] void fail(const std::string& what) const;
  /// The next few characters, for errors.
  std::string here();

  /// Regions within regions, types within types: errors beyond 200.
  class Deeper {
   public:
    explicit Deeper(Cursor& in);
    ~Deeper() { --in_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Cursor& in_;
  };

 private:
  void skip_blanks() {
    if (at_ >= text_.size() || text_[at_] <= ' ' || text_[at_] == '/') skip_blanks_and_comments();
  }
  void skip_blanks_and_comments();
  void skip_quoted();

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  std::uint32_t line_;
  int depth_ = 0;
};

}  // namespace trnsim::frontend::stablehlo
