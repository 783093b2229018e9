#include "hw/run/serial.h"

#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace hw {
namespace {

/// Walks the fields of a result; `Io` either appends them to a string or takes them from one.
template <typename Io, typename Result>
void walk(Io& io, Result& r) {
  for (auto* field : {&r.total, &r.lead_in, &r.collective_active, &r.collective_exposed}) io.plain(*field);
  for (auto* field : {&r.rank, &r.cores}) io.plain(*field);
  for (auto* field : {&r.instructions, &r.replayed_calls, &r.dropped_events}) io.plain(*field);
  io.plain(r.exact);
  io.plain(r.matmul_flops);
  io.plain(r.engines);
  io.plain(r.dma);
  io.plain(r.peaks);
  io.list(r.calls);
  io.list(r.ops);
  io.list(r.collectives);
  io.list(r.events);
  io.list(r.rank_total);
}

struct ByteWriter {
  std::string out;

  template <typename T>
  void plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    plain(values.size());
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
};

struct ByteReader {
  std::string_view in;

  void take(void* to, std::size_t bytes) {
    base::ensure(bytes <= in.size(), "simulation child", "its result is cut short");
    if (bytes > 0) std::memcpy(to, in.data(), bytes);
    in.remove_prefix(bytes);
  }
  template <typename T>
  void plain(T& value) {
    take(&value, sizeof value);
  }
  template <typename T>
  void list(std::vector<T>& values) {
    std::size_t size = 0;
    plain(size);
    base::ensure(size <= in.size() / sizeof(T), "simulation child", "its result is cut short");
    values.resize(size);
    take(values.data(), size * sizeof(T));
  }
};

void walk(auto& io, auto& news) requires requires { news.call; }
{
  io.plain(news.instrs);
  io.plain(news.call.record.time);
  io.list(news.call.record.slots.busy);
  io.list(news.call.record.slots.waiting);
  io.plain(news.call.tokens);
  io.plain(news.call.matmuls);
  io.plain(news.call.power_after);
}

}  // namespace

std::string to_bytes(const std::vector<SimResult>& results) {
  ByteWriter writer;
  for (const SimResult& result : results) walk(writer, result);
  return std::move(writer.out);
}

std::string to_bytes(const std::vector<BlockNews>& news) {
  ByteWriter writer;
  for (const BlockNews& one : news) walk(writer, one);
  return std::move(writer.out);
}

std::vector<BlockNews> news_from_bytes(std::string_view bytes) {
  std::vector<BlockNews> news;
  for (ByteReader reader{bytes}; !reader.in.empty();) walk(reader, news.emplace_back());
  return news;
}

std::vector<SimResult> results_from_bytes(std::string_view bytes) {
  std::vector<SimResult> results;
  for (ByteReader reader{bytes}; !reader.in.empty();) walk(reader, results.emplace_back());
  return results;
}

}  // namespace hw
