// Columns of a Parquet file of plain, required values, read by the format's specification.
// Source: github.com/apache/parquet-format, parquet.thrift; thrift/doc/specs/thrift-compact-protocol.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parquet_columns {

using Json = nlohmann::json;

/// Thrift's compact protocol: structs as objects by the fields' numbers.
class Thrift {
 public:
  explicit Thrift(std::string_view bytes) : bytes_{bytes} {}

  Json object() {
    Json out = Json::object();
    for (std::int64_t id = 0;;) {
      const std::uint8_t head = byte();
      if (head == 0) return out;
      id = head >> 4 ? id + (head >> 4) : zigzag();
      out[std::to_string(id)] = value(head & 15);
    }
  }
  std::size_t at() const { return at_; }

 private:
  std::uint8_t byte() {
    if (at_ >= bytes_.size()) throw std::runtime_error{"the footer is cut short"};
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t next = byte();
      out |= (next & 127) << shift;
      if (next < 128) return out;
    }
  }
  std::int64_t zigzag() {
    const std::uint64_t v = varint();
    return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
  }
  Json value(int type) {
    switch (type) {
      case 1:
      case 2: return type == 1;
      case 5:
      case 6: return zigzag();
      case 8: {
        const std::size_t size = varint();
        at_ += size;
        return std::string{bytes_.substr(at_ - size, size)};
      }
      case 9: {
        const std::uint8_t head = byte();
        const std::uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
        Json out = Json::array();
        for (std::uint64_t i = 0; i < size; ++i) out.push_back(value(head & 15));
        return out;
      }
      case 12: return object();
      default: throw std::runtime_error{"a type of Thrift that Parquet's footers do not have"};
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

template <class T>
T little(std::string_view bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.substr(at, sizeof out).data(), sizeof out);
  return out;
}

/// Values by the column's name: INT64 and DOUBLE as numbers, BYTE_ARRAY as texts.
inline std::map<std::string, std::vector<Json>> of(std::string_view file) {
  if (!file.starts_with("PAR1") || !file.ends_with("PAR1")) throw std::runtime_error{"is no Parquet file"};
  const auto size = little<std::uint32_t>(file, file.size() - 8);
  const Json footer = Thrift{file.substr(file.size() - 8 - size, size)}.object();
  std::map<std::string, std::vector<Json>> out;
  for (const Json& group : footer.at("4"))
    for (const Json& chunk : group.at("1")) {
      const Json& meta = chunk.at("3");
      std::string_view page = file.substr(meta.at("9").get<std::size_t>());
      Thrift header{page};
      const std::int64_t rows = header.object().at("5").at("1");
      std::size_t at = header.at();
      std::vector<Json>& column = out[meta.at("3").at(0)];
      for (std::int64_t row = 0; row < rows; ++row) {
        if (const int type = meta.at("1"); type == 6) {
          const auto length = little<std::uint32_t>(page, at);
          column.emplace_back(std::string{page.substr(at + 4, length)}), at += 4 + length;
        } else {
          column.push_back(type == 5 ? Json(little<double>(page, at)) : Json(little<std::int64_t>(page, at)));
          at += 8;
        }
      }
    }
  return out;
}

}  // namespace parquet_columns
