// Chrome's JSON ("Trace Event Format"): complete events, so that nothing depends on the order of equal times.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "analysis/trace/trace_sink.h"

namespace analysis {
namespace {

double us(hw::Fs time) { return static_cast<double>(time) * 1e-9; }

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class ChromeSink : public TraceSink {
 public:
  explicit ChromeSink(ByteSink out) : out_{std::move(out)} { out_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"); }

  void process(std::uint64_t pid, std::string_view name) override {
    put(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, json_text(name)));
  }
  void thread(std::uint64_t track, std::uint64_t pid, std::string_view name, int order) override {
    pids_[track] = pid;
    put(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, track,
                    json_text(name)));
    put(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", pid,
                    track, order));
  }
  void counter(std::uint64_t track, std::uint64_t pid, std::string_view name, std::string_view unit) override {
    pids_[track] = pid;
    counters_[track] = json_text(fmt::format("{} [{}]", name, unit));
  }
  void open(const Slice& s) override {
    const std::uint64_t pid = pids_.at(s.track);
    std::string args;
    for (const Arg& arg : s.args) {
      args += fmt::format("{}{}:{}", args.empty() ? "" : ",", json_text(arg.name),
                          arg.text.empty() ? fmt::format("{}", arg.number) : json_text(arg.text));
    }
    put(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"name":{},"cat":{},"args":{{{}}}}})", pid,
                    s.track, us(s.begin), us(s.end - s.begin), json_text(s.name), json_text(s.category), args));
    for (const std::uint64_t flow : s.flows_out) arrow('s', flow, pid, s.track, s.end);
    for (const std::uint64_t flow : s.flows_in) arrow('f', flow, pid, s.track, s.begin);
  }
  void close(const Slice&) override {}  // "X" events carry their duration
  void value(std::uint64_t track, hw::Fs when, double value) override {
    put(fmt::format(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":{},"args":{{"value":{}}}}})", pids_.at(track), us(when),
                    counters_.at(track), value));
  }
  void finish() override { out_("\n]}\n"); }

 private:
  void arrow(char phase, std::uint64_t flow, std::uint64_t pid, std::uint64_t track, hw::Fs when) {
    put(fmt::format(R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.6f},"name":"releases","cat":"flow","bp":"e"}})",
                    phase, flow, pid, track, us(when)));
  }
  void put(std::string_view event) {
    if (!first_) out_(",\n");
    first_ = false;
    out_(event);
  }

  ByteSink out_;
  std::map<std::uint64_t, std::uint64_t> pids_;
  std::map<std::uint64_t, std::string> counters_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<TraceSink> make_chrome_sink(ByteSink out) { return std::make_unique<ChromeSink>(std::move(out)); }

}  // namespace analysis
