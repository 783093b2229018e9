// Where a time line is written to. One implementation per file format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hw/trace.h"

namespace analysis {

/// A figure that belongs to a slice: its text, or its number when the text is empty.
struct Arg {
  std::string_view name;
  double number = 0;
  std::string_view text = {};
};

/// An interval on a track. Slices of a track arrive in order of time, the outer one before those inside it; a slice
/// begins after the end of the one before, or is inside it.
struct Slice {
  std::uint64_t track = 0;
  hw::Fs begin = 0, end = 0;
  std::string_view name, category;
  std::vector<Arg> args{};
  std::vector<std::uint64_t> flows_out{}, flows_in{};  // numbers of arrows that leave from or arrive at it
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void process(std::uint64_t pid, std::string_view name) = 0;
  /// A line of slices in a process; `track` is unique in the file. `order` sorts lines within their process.
  virtual void thread(std::uint64_t track, std::uint64_t pid, std::string_view name, int order) = 0;
  virtual void counter(std::uint64_t track, std::uint64_t pid, std::string_view name, std::string_view unit) = 0;
  virtual void open(const Slice& slice) = 0;
  virtual void close(const Slice& slice) = 0;
  virtual void value(std::uint64_t track, hw::Fs when, double value) = 0;
  virtual void finish() {}
};

/// Takes the bytes of the file, piece by piece.
using ByteSink = std::function<void(std::string_view)>;
std::unique_ptr<TraceSink> make_perfetto_sink(ByteSink out);
std::unique_ptr<TraceSink> make_chrome_sink(ByteSink out);

}  // namespace analysis
