// The sources of the tree as the tests of its rules read them: without a compiler, by lines, words and braces.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace base {

/// A file taken apart, without comments and preprocessor directives. Each part is as long as the text, has its lines,
/// and blanks for the other: quoted text (`strings`), and the `code` around it.
struct Source {
  std::string path;  // from the root: "hw/memory/dma.cpp"
  std::string code, strings;

  std::string_view folder() const { return std::string_view{path}.substr(0, path.find('/')); }
};

/// 1 for the first line.
inline std::size_t line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, position), '\n'));
}

/// Splits a text into code and quoted text, character by character.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_{text}, code_(text.size(), ' ') {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') code_[i] = '\n';
    strings_ = code_;
  }

  Source split(std::string path) {
    while (at_ < text_.size()) step();
    return {std::move(path), std::move(code_), std::move(strings_)};
  }

 private:
  bool here(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool after_word() const { return at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0); }
  bool first_of_line() const {
    const std::size_t begin = text_.substr(0, at_).find_last_of('\n') + 1;  // npos + 1 is 0
    return text_.substr(begin, at_ - begin).find_first_not_of(" \t") == std::string_view::npos;
  }

  void step() {
    if (here("//"))
      skip_to("\n", 0);
    else if (here("/*"))
      skip_to("*/", 2);
    else if (here("#") && first_of_line())
      skip_directive();
    else if (here("R\"") && !after_word())
      raw();
    else if (here("\""))
      quoted('"', strings_);
    else if (here("'") && !after_word())  // else it groups the digits of a number
      quoted('\'', code_);
    else
      code_[at_] = text_[at_], ++at_;
  }

  void skip_to(std::string_view end, std::size_t behind) {
    const std::size_t found = text_.find(end, at_ + behind);
    at_ = found == std::string_view::npos ? text_.size() : found + behind;
  }

  /// To the end of a line that no backslash continues.
  void skip_directive() {
    while (at_ < text_.size() && (text_[at_] != '\n' || text_[at_ - 1] == '\\')) ++at_;
  }

  void raw() {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ")" + std::string{text_.substr(at_ + 2, open - at_ - 2)} + "\"";
    const std::size_t end = std::min(text_.find(close, open), text_.size());
    for (at_ = open + 1; at_ < end; ++at_) strings_[at_] = text_[at_];
    at_ = std::min(end + close.size(), text_.size());
    code_[at_ - 1] = '"';
  }

  /// Text between quotes goes to `strings_`; of a character literal only the quotes stay, in the code.
  void quoted(char quote, std::string& keep) {
    code_[at_] = quote;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (&keep == &strings_) strings_[at_] = text_[at_];
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ < text_.size()) code_[at_] = text_[at_];
    ++at_;
  }

  std::string_view text_;
  std::string code_, strings_;
  std::size_t at_ = 0;
};

inline Source split_source(std::string path, std::string_view text) { return Splitter{text}.split(std::move(path)); }

/// Paths from the root of all .h and .cpp files below the folders, in alphabetical order.
inline std::vector<std::string> source_paths(const std::filesystem::path& root,
                                             const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp") paths.push_back(relative(entry.path(), root).string());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace base
