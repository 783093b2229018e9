// Perfetto's TrackEvent protobuf. Field numbers: protos/perfetto/trace/{trace_packet, track_event/*, interned_data/*}
// of google/perfetto.
#include <map>

#include "analysis/trace/protobuf.h"
#include "analysis/trace/trace_sink.h"

namespace analysis {
namespace {

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
    ProtoMessage process, track;
    process.whole(1, pid);
    process.text(6, name);
    track.whole(1, kProcessTracks + pid);
    track.message(3, process);
    describe(track);
  }

  void thread(std::uint64_t id, std::uint64_t pid, std::string_view name, int order) override {
    ProtoMessage thread, track;
    thread.whole(1, pid);
    thread.whole(2, id);
    thread.text(5, name);
    track.whole(1, id);
    track.message(4, thread);
    track.whole(5, kProcessTracks + pid);
    track.whole(12, static_cast<std::uint64_t>(order));
    describe(track);
  }

  void counter(std::uint64_t id, std::uint64_t pid, std::string_view name, std::string_view unit) override {
    ProtoMessage counter, track;
    counter.text(6, unit);
    track.whole(1, id);
    track.text(2, name);
    track.whole(5, kProcessTracks + pid);
    track.message(8, counter);
    describe(track);
  }

  void open(const Slice& slice) override {
    ProtoMessage interned, event;
    event.whole(9, kBegin);
    event.whole(11, slice.track);
    event.whole(10, intern(names_, 2, slice.name, interned));
    if (!slice.category.empty()) event.whole(3, intern(categories_, 1, slice.category, interned));
    for (const Arg& arg : slice.args) {
      ProtoMessage annotation;
      annotation.whole(1, intern(args_, 3, arg.name, interned));
      if (arg.text.empty()) {
        annotation.real(5, arg.number);
      } else {
        annotation.whole(17, intern(texts_, 29, arg.text, interned));
      }
      event.message(4, annotation);
    }
    for (const std::uint64_t flow : slice.flows_out) event.fixed(47, flow);
    for (const std::uint64_t flow : slice.flows_in) event.fixed(48, flow);
    put(slice.begin, event, interned);
  }

  void close(const Slice& slice) override {
    ProtoMessage event;
    event.whole(9, kEnd);
    event.whole(11, slice.track);
    put(slice.end, event, {});
  }

  void value(std::uint64_t track, hw::Fs when, double value) override {
    ProtoMessage event;
    event.whole(9, kCounter);
    event.whole(11, track);
    event.real(44, value);
    put(when, event, {});
  }

 private:
  using Interned = std::map<std::string, std::uint64_t, std::less<>>;

  /// The number of `text`; the first time, its entry goes into `interned` under `field`.
  static std::uint64_t intern(Interned& known, int field, std::string_view text, ProtoMessage& interned) {
    if (const auto found = known.find(text); found != known.end()) return found->second;
    const std::uint64_t iid = known.size() + 1;
    known.emplace(text, iid);
    ProtoMessage entry;
    entry.whole(1, iid);
    entry.text(2, text);
    interned.message(field, entry);
    return iid;
  }

  void put(hw::Fs when, const ProtoMessage& event, const ProtoMessage& interned) {
    ProtoMessage packet;
    packet.whole(8, ns(when));
    packet.whole(10, kSequence);
    packet.message(11, event);
    if (!interned.bytes().empty()) packet.message(12, interned);
    packet.whole(13, started_ ? kNeedsState : kStateCleared | kNeedsState);
    started_ = true;
    put(packet);
  }
  void describe(const ProtoMessage& track) {
    ProtoMessage packet;
    packet.whole(10, kSequence);
    packet.message(60, track);
    put(packet);
  }
  void put(const ProtoMessage& packet) {
    ProtoMessage trace;
    trace.message(1, packet);
    out_(trace.bytes());
  }

  ByteSink out_;
  Interned names_, categories_, args_, texts_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<TraceSink> make_perfetto_sink(ByteSink out) { return std::make_unique<PerfettoSink>(std::move(out)); }

}  // namespace analysis
