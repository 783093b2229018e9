#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "analysis/profile/memory_use.h"
#include "analysis/trace/trace_lines.h"

namespace analysis {
namespace {

constexpr std::size_t kBins = 2000;  // of a counter that is drawn from events

class Counters {
 public:
  Counters(const Record& record, const TimelineWindow& window, std::span<const std::size_t> events, TraceSink& sink)
      : record_{record}, result_{record.result}, window_{window}, events_{events}, sink_{sink} {}

  std::uint64_t write() {
    const MemoryUse memory = memory_use(record_);
    const auto seconds = [&](std::size_t c) { return hw::seconds(result_.calls[c].end - result_.calls[c].begin); };
    const auto block = [&](std::size_t c) -> const isa::Block& {
      return record_.program.blocks[result_.calls[c].block];
    };
    write_call_counter(0, "SBUF per partition", "B", [&](std::size_t c) { return block(c).sbuf_bytes; });
    write_call_counter(1, "PSUM per partition", "B", [&](std::size_t c) { return block(c).psum_bytes; });
    write_call_counter(2, "HBM in use", "B", [&](std::size_t c) { return memory.total[c]; });
    write_call_counter(3, "tensor busy", "%", [&](std::size_t c) {
      return seconds(c) > 0 ? hw::seconds(result_.calls[c].engines[0].busy) / seconds(c) * 100 : 0;
    });
    // The machine limits power as sustained load of the PE array (power.utilisation); the watts are not published.
    write_call_counter(5, "power: load of the PE array", "%", [&](std::size_t c) {
      const double array = result_.peaks.matmul_flops * seconds(c);
      return array > 0 ? block(c).matmul_flops / array * 100 : 0;
    });
    const bool rings = std::ranges::any_of(
        events_, [&](std::size_t e) { return result_.events[e].track == hw::TraceEvent::Track::kDmaRing; });
    if (rings)
      write_bandwidth_by_event();
    else
      write_call_counter(4, "HBM bandwidth", "GB/s", [&](std::size_t c) {
        const hw::DmaTime& dma = result_.calls[c].dma;
        return seconds(c) > 0 ? static_cast<double>(dma.read_bytes + dma.written_bytes) / seconds(c) * 1e-9 : 0;
      });
    return values_;
  }

 private:
  void value(std::uint64_t track, hw::Fs when, double value) {
    ++values_;
    sink_.value(track, when, value);
  }

  /// A figure that holds from the begin of each call to the begin of the next.
  template <class Of>
  void write_call_counter(int line, std::string_view name, std::string_view unit, Of of) {
    const std::uint64_t track = track_of(result_.rank, kCounterLine + line);
    sink_.counter(track, chip_of(record_, result_.rank), fmt::format("core {} {}", result_.rank, name), unit);
    hw::Fs end = 0;
    for (std::size_t c = 0; c < result_.calls.size(); ++c) {
      const hw::CallTime& call = result_.calls[c];
      if (!window_.shows(call.begin, call.end)) continue;
      value(track, call.begin, of(c));
      end = call.end;
    }
    if (end > 0) value(track, end, 0);
  }

  /// Bytes of the transfers, spread evenly over the time that each took.
  void write_bandwidth_by_event() {
    hw::Fs from = ~hw::Fs{0}, until = 0;
    for (const std::size_t e : events_) {
      from = std::min(from, result_.events[e].begin);
      until = std::max(until, result_.events[e].end);
    }
    const hw::Fs width = std::max<hw::Fs>((until - from) / kBins, 1'000'000);  // at least 1 ns
    std::map<std::uint32_t, std::vector<double>> ranks;
    for (const std::size_t e : events_) {
      const hw::TraceEvent& event = result_.events[e];
      if (event.track != hw::TraceEvent::Track::kDmaRing || event.end <= event.begin) continue;
      auto& bins = ranks.try_emplace(event.rank, (until - from) / width + 1).first->second;
      const double rate = work_of(record_, event).hbm_bytes / static_cast<double>(event.end - event.begin);
      for (hw::Fs at = event.begin; at < event.end;) {
        const hw::Fs bin = (at - from) / width, next = std::min(event.end, from + (bin + 1) * width);
        bins[bin] += rate * static_cast<double>(next - at);
        at = next;
      }
    }
    for (const auto& [rank, bins] : ranks) {
      const std::uint64_t track = track_of(rank, kCounterLine + 4);
      sink_.counter(track, chip_of(record_, rank), fmt::format("core {} HBM bandwidth", rank), "GB/s");
      double last = -1;
      for (std::size_t b = 0; b < bins.size(); ++b) {
        const double rate = bins[b] / hw::seconds(width) * 1e-9;
        if (rate != last) value(track, from + b * width, rate);
        last = rate;
      }
      value(track, until, 0);
    }
  }

  const Record& record_;
  const hw::SimResult& result_;
  const TimelineWindow& window_;
  const std::span<const std::size_t> events_;
  TraceSink& sink_;
  std::uint64_t values_ = 0;
};

}  // namespace

std::uint64_t write_counters(const Record& record, const TimelineWindow& window, std::span<const std::size_t> events,
                             TraceSink& sink) {
  return Counters{record, window, events, sink}.write();
}

}  // namespace analysis
