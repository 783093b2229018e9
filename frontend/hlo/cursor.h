// The words, numbers and signs of HLO text, with the line of each for errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trnsim::frontend::hlo {

/// Reads one text from front to back. Blanks, newlines, // and /* */ separate.
class Cursor {
 public:
  Cursor(std::string_view text, std::string_view file) : text_{text}, file_{file} {}

  /// The next character behind blanks; '\0' at the end of the text.
  char peek();
  /// The next character without passing blanks.
  char here() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  bool at_end() { return peek() == '\0' && pos_ >= text_.size(); }
  /// Passes `symbol` if it is next: a sign, or a whole word.
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol);
  /// Letters, digits and _ . - : the name of an instruction, with its leading % passed.
  std::string_view name(std::string_view what);
  /// The word that is next, or an empty one; nothing is passed.
  std::string_view peek_word();
  std::int64_t integer(std::string_view what);
  double real(std::string_view what);
  /// A number as it is written: until a blank, a comma or a closing bracket.
  std::string_view number_text();
  std::string quoted(std::string_view what);
  /// Text from an opening bracket to the one that closes it, both included; quotes are respected.
  std::string_view balanced(char open, char close);

  /// "{item, item}" or the same in other brackets; `item` reads one.
  template <class Item>
  void list(std::string_view open, std::string_view close, const Item& item) {
    expect(open);
    while (peek() != close[0]) {
      item();
      if (!accept(",")) break;
    }
    expect(close);
  }

  std::uint32_t line();
  /// "FILE:LINE" of the token read last.
  std::string where();
  [[noreturn]] void fail(std::string_view what, std::string_view fix);

  std::size_t position() const { return pos_; }
  void return_to(std::size_t position) { pos_ = position; }

 private:
  void skip();
  std::uint32_t line_here();

  std::string_view text_, file_;
  std::size_t pos_ = 0;
  std::size_t counted_ = 0;  // newlines up to here are in line_
  std::uint32_t line_ = 1;
};

}  // namespace trnsim::frontend::hlo
