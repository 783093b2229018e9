// Event files of TensorBoard: TFRecord around the protobuf messages Event and Summary.
// Source: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto.
#include <array>
#include <bit>
#include <cmath>

#include "analysis/export/export.h"
#include "analysis/trace/protobuf.h"

namespace analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kCastagnoli : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int b = 0; b < bytes; ++b) out.push_back(static_cast<char>(value >> 8 * b & 0xff));
  return out;
}

class EventFile {
 public:
  explicit EventFile(double begin) : begin_{begin} {
    ProtoMessage event;
    event.real(1, begin);
    event.text(3, "brain.Event:2");
    out_ += tf_record(event.bytes());
  }

  void scalar(const std::string& tag, std::int64_t step, double seconds, const Json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return;
    ProtoMessage one, summary, event;
    one.text(1, tag);
    one.real32(2, value.get<float>());
    summary.message(1, one);
    event.real(1, begin_ + seconds);
    event.whole(2, static_cast<std::uint64_t>(step));
    event.message(5, summary);
    out_ += tf_record(event.bytes());
  }

  std::string take() { return std::move(out_); }

 private:
  double begin_;
  std::string out_;
};

void add_evaluations(const Json& body, std::int64_t last, double seconds, EventFile& file) {
  const Json metrics = body.value("metrics", Json{});
  if (!metrics.is_object()) return;
  for (const Json& one : metrics.value("epochs", Json::array())) {
    const double epoch = one.value("epoch", 0.0), all = std::max(epoch, 1.0);
    const auto step = one.contains("step") ? one["step"].get<std::int64_t>() : last;
    for (const auto& [name, value] : one.items())
      if (name != "split" && name != "epoch" && name != "step")
        file.scalar(one.value("split", "eval") + "/" + name, step, seconds * epoch / all, value);
  }
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xa282ead8;
}

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(bytes.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string{bytes} + little_endian(masked_crc32c(bytes), 4);
}

std::string tensorboard_events(const ExportRun& run) {
  EventFile file{run.begin};
  std::int64_t last = 0;
  double seconds = 0;
  for (const Json& line : run.steps) {
    last = line.value("step", last), seconds = line.value("host_seconds", seconds);
    for (const char* name : {"loss", "learning_rate", "grad_norm", "epoch"})
      if (line.contains(name)) file.scalar(std::string{"train/"} + name, last, seconds, line[name]);
  }
  add_evaluations(run.body, last, seconds, file);
  for (const char* section : {"job", "cost", "utilisation", "memory"}) {
    const Json part = run.body.value(section, Json{});
    if (!part.is_object()) continue;
    for (const auto& [name, value] : part.items())
      file.scalar((section == std::string_view{"job"} ? "train/" : std::string{section} + "/") + name, last, seconds,
                  value);
  }
  return file.take();
}

}  // namespace analysis
