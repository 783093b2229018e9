// Small text functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Lowers ASCII letters; other characters stay.
std::string lower(std::string_view text);

/// Without blanks and tabs at both ends.
std::string_view trim(std::string_view text);

/// The parts between the delimiters: one more than there are delimiters, some perhaps empty.
std::vector<std::string> split(std::string_view text, char delimiter);

/// "1 micro-batch", "3 micro-batches", "0 entries": a number with its noun, in the plural unless it is one.
std::string counted(std::int64_t count, std::string_view noun);

/// US dollars as every table and sentence has them, three digits at least: "$11.94", "$6.452", "$0.0000122".
std::string money_text(double dollars);

/// Whether no more than 200 brackets are open at once, and no zero byte is between its values. Code that walks parsed
/// JSON recurses, and nlohmann::json takes such a byte for the end, so this is checked before parsing.
bool is_shallow_json(std::string_view json);
/// Errors: Fault::kData naming `where` when it is not.
void require_shallow_json(std::string_view json, std::string_view where);

/// A stream takes a failed read, and an end of memory, for the end of its text, unless it is told to throw.
void throw_when_bad(std::ios& stream);

/// std::getline that counts and removes "\r" and, on the first line, the byte order mark.
class LineReader {
 public:
  explicit LineReader(std::istream& in) : in_{in} { throw_when_bad(in_); }
  /// Errors: as the stream's buffer, std::ios_base::failure for a file that cannot be read to its end.
  bool next(std::string& line);
  /// The number of the line read last, from 1.
  std::size_t number() const { return number_; }

 private:
  std::istream& in_;
  std::size_t number_ = 0;
};

}  // namespace base
