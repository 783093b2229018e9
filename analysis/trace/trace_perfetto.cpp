// Perfetto's TrackEvent protobuf. Field numbers: protos/perfetto/trace/{trace_packet, track_event/*, interned_data/*}
// of google/perfetto.
#include <map>
#include <protozero/pbf_writer.hpp>

#include "analysis/trace/trace_sink.h"

namespace analysis {
namespace {

using Message = protozero::pbf_writer;

constexpr std::uint64_t kSequence = 1;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;  // TrackEvent.type
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // TracePacket.sequence_flags
constexpr std::uint64_t kProcessTracks = 1ull << 40;         // above all tracks of threads and counters

/// Perfetto's clock ticks in nanoseconds.
std::uint64_t ns(hw::Fs time) { return (time + 500'000) / 1'000'000; }

class PerfettoSink : public TraceSink {
 public:
  explicit PerfettoSink(ByteSink out) : out_{std::move(out)} {}

  void process(std::uint64_t pid, std::string_view name) override {
    std::string bytes;
    Message track{bytes};
    track.add_uint64(1, kProcessTracks + pid);
    {
      Message process{track, 3};
      process.add_uint64(1, pid);
      process.add_string(6, name.data(), name.size());
    }
    describe(bytes);
  }

  void thread(std::uint64_t id, std::uint64_t pid, std::string_view name, int order) override {
    std::string bytes;
    Message track{bytes};
    track.add_uint64(1, id);
    {
      Message thread{track, 4};
      thread.add_uint64(1, pid);
      thread.add_uint64(2, id);
      thread.add_string(5, name.data(), name.size());
    }
    track.add_uint64(5, kProcessTracks + pid);
    track.add_uint64(12, static_cast<std::uint64_t>(order));
    describe(bytes);
  }

  void counter(std::uint64_t id, std::uint64_t pid, std::string_view name, std::string_view unit) override {
    std::string bytes;
    Message track{bytes};
    track.add_uint64(1, id);
    track.add_string(2, name.data(), name.size());
    track.add_uint64(5, kProcessTracks + pid);
    Message{track, 8}.add_string(6, unit.data(), unit.size());
    describe(bytes);
  }

  void open(const Slice& slice) override {
    std::string bytes, entries;
    Message event{bytes}, interned{entries};
    event.add_uint64(9, kBegin);
    event.add_uint64(11, slice.track);
    event.add_uint64(10, intern(names_, 2, slice.name, interned));
    if (!slice.category.empty()) event.add_uint64(3, intern(categories_, 1, slice.category, interned));
    for (const Arg& arg : slice.args) {
      Message annotation{event, 4};
      annotation.add_uint64(1, intern(args_, 3, arg.name, interned));
      if (arg.text.empty())
        annotation.add_double(5, arg.number);
      else
        annotation.add_uint64(17, intern(texts_, 29, arg.text, interned));
    }
    for (const std::uint64_t flow : slice.flows_out) event.add_fixed64(47, flow);
    for (const std::uint64_t flow : slice.flows_in) event.add_fixed64(48, flow);
    put(slice.begin, bytes, entries);
  }

  void close(const Slice& slice) override {
    std::string bytes;
    Message event{bytes};
    event.add_uint64(9, kEnd);
    event.add_uint64(11, slice.track);
    put(slice.end, bytes, "");
  }

  void value(std::uint64_t track, hw::Fs when, double value) override {
    std::string bytes;
    Message event{bytes};
    event.add_uint64(9, kCounter);
    event.add_uint64(11, track);
    event.add_double(44, value);
    put(when, bytes, "");
  }

 private:
  using Interned = std::map<std::string, std::uint64_t, std::less<>>;

  /// The number of `text`; the first time, its entry goes into `interned` under `field`.
  static std::uint64_t intern(Interned& known, protozero::pbf_tag_type field, std::string_view text,
                              Message& interned) {
    if (const auto found = known.find(text); found != known.end()) return found->second;
    const std::uint64_t iid = known.size() + 1;
    known.emplace(text, iid);
    Message entry{interned, field};
    entry.add_uint64(1, iid);
    entry.add_string(2, text.data(), text.size());
    return iid;
  }

  void put(hw::Fs when, const std::string& event, const std::string& interned) {
    std::string bytes;
    Message packet{bytes};
    packet.add_uint64(8, ns(when));
    packet.add_uint64(10, kSequence);
    packet.add_message(11, event);
    if (!interned.empty()) packet.add_message(12, interned);
    packet.add_uint64(13, started_ ? kNeedsState : kStateCleared | kNeedsState);
    started_ = true;
    put(bytes);
  }
  void describe(const std::string& track) {
    std::string bytes;
    Message packet{bytes};
    packet.add_uint64(10, kSequence);
    packet.add_message(60, track);
    put(bytes);
  }
  void put(const std::string& packet) {
    std::string trace;
    Message{trace}.add_message(1, packet);
    out_(trace);
  }

  ByteSink out_;
  Interned names_, categories_, args_, texts_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<TraceSink> make_perfetto_sink(ByteSink out) { return std::make_unique<PerfettoSink>(std::move(out)); }

}  // namespace analysis
