// Small things that are done to text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// ASCII letters in small; what is not ASCII stays.
std::string lower(std::string_view text);

/// Without blanks and tabs at both ends.
std::string_view trim(std::string_view text);

/// The parts between the delimiters: one more than there are delimiters, some perhaps empty.
std::vector<std::string> split(std::string_view text, char delimiter);

/// "1 micro-batch", "3 micro-batches", "0 entries": a number with its noun, in the plural unless it is one.
std::string counted(std::int64_t count, std::string_view noun);

/// Whether no more than 200 brackets are open at once. Code that walks parsed JSON recurses, so this is checked
/// before parsing.
bool is_shallow_json(std::string_view json);
/// Errors: Fault::kData naming `where` when it is not.
void require_shallow_json(std::string_view json, std::string_view where);

/// std::getline that counts and removes "\r" and, on the first line, the byte order mark.
class LineReader {
 public:
  explicit LineReader(std::istream& in) : in_{in} {}
  bool next(std::string& line);
  /// The number of the line read last, from 1.
  std::size_t number() const { return number_; }

 private:
  std::istream& in_;
  std::size_t number_ = 0;
};

}  // namespace base
