// Parquet: pages of plain values, and a footer in Thrift's compact protocol.
// Source: github.com/apache/parquet-format, parquet.thrift; thrift/doc/specs/thrift-compact-protocol.md.
#include "analysis/export/parquet.h"

#include <bit>

#include "base/error.h"

namespace analysis {
namespace {

enum class Type { kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum class Field : std::uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

/// Structs of Thrift's compact protocol.
class Thrift {
 public:
  void i32(int id, std::int64_t value) { head(id, Field::kI32), zigzag(value); }
  void i64(int id, std::int64_t value) { head(id, Field::kI64), zigzag(value); }
  void text(int id, std::string_view value) { head(id, Field::kBinary), bytes(value); }
  void list(int id, Field of, std::size_t size) {
    head(id, Field::kList);
    out_.push_back(static_cast<char>((size < 15 ? size : 15) << 4 | static_cast<std::uint8_t>(of)));
    if (size >= 15) varint(size);
  }
  void item(std::int64_t value) { zigzag(value); }
  void item(std::string_view value) { bytes(value); }
  /// A struct as a field, or, with id 0, as an item of a list.
  void open(int id) {
    if (id > 0) head(id, Field::kStruct);
    outer_.push_back(last_);
    last_ = 0;
  }
  void close() {
    out_.push_back(0);
    last_ = outer_.back();
    outer_.pop_back();
  }
  std::string take() { return out_ + '\0'; }

 private:
  void head(int id, Field type) {
    const int step = id - last_;
    last_ = id;
    if (step > 0 && step < 16) return out_.push_back(static_cast<char>(step << 4 | static_cast<std::uint8_t>(type)));
    out_.push_back(static_cast<char>(type));
    zigzag(id);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  void zigzag(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void bytes(std::string_view value) {
    varint(value.size());
    out_.append(value);
  }

  std::string out_;
  int last_ = 0;
  std::vector<int> outer_;
};

Type type_of(const ParquetColumn& c) {
  return !c.text.empty() ? Type::kByteArray : !c.real.empty() ? Type::kDouble : Type::kInt64;
}

std::size_t rows_of(const ParquetColumn& c) { return c.text.size() + c.real.size() + c.whole.size(); }

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int b = 0; b < bytes; ++b) out.push_back(static_cast<char>(value >> 8 * b & 0xff));
}

std::string plain(const ParquetColumn& c) {
  std::string out;
  for (const std::int64_t v : c.whole) put(out, static_cast<std::uint64_t>(v), 8);
  for (const double v : c.real) put(out, std::bit_cast<std::uint64_t>(v), 8);
  for (const std::string& v : c.text) put(out, v.size(), 4), out += v;
  return out;
}

/// DataPageHeader in a PageHeader: values without levels, as every column is required.
std::string page(const ParquetColumn& column) {
  constexpr int kPlain = 0, kRle = 3;
  const std::string values = plain(column);
  Thrift header;
  header.i32(1, 0);
  header.i32(2, static_cast<std::int64_t>(values.size()));
  header.i32(3, static_cast<std::int64_t>(values.size()));
  header.open(5);
  header.i32(1, static_cast<std::int64_t>(rows_of(column)));
  header.i32(2, kPlain);
  header.i32(3, kRle);
  header.i32(4, kRle);
  header.close();
  return header.take() + values;
}

void put_schema(Thrift& footer, std::span<const ParquetColumn> columns) {
  constexpr int kRequired = 0, kUtf8 = 0;
  footer.list(2, Field::kStruct, columns.size() + 1);
  footer.open(0);
  footer.text(4, "schema");
  footer.i32(5, static_cast<std::int64_t>(columns.size()));
  footer.close();
  for (const ParquetColumn& column : columns) {
    footer.open(0);
    footer.i32(1, static_cast<int>(type_of(column)));
    footer.i32(3, kRequired);
    footer.text(4, column.name);
    if (type_of(column) == Type::kByteArray) footer.i32(6, kUtf8);
    footer.close();
  }
}

struct Chunk {
  std::size_t offset = 0, bytes = 0;
};

void put_chunk(Thrift& footer, const ParquetColumn& column, const Chunk& chunk) {
  footer.open(0);
  footer.i64(2, static_cast<std::int64_t>(chunk.offset));
  footer.open(3);
  footer.i32(1, static_cast<int>(type_of(column)));
  footer.list(2, Field::kI32, 1), footer.item(std::int64_t{0});
  footer.list(3, Field::kBinary, 1), footer.item(std::string_view{column.name});
  footer.i32(4, 0);
  footer.i64(5, static_cast<std::int64_t>(rows_of(column)));
  footer.i64(6, static_cast<std::int64_t>(chunk.bytes));
  footer.i64(7, static_cast<std::int64_t>(chunk.bytes));
  footer.i64(9, static_cast<std::int64_t>(chunk.offset));
  footer.close();
  footer.close();
}

}  // namespace

std::string parquet_file(std::span<const ParquetColumn> columns) {
  base::ensure(!columns.empty(), "parquet", "a file has columns");
  constexpr std::string_view kMagic = "PAR1";
  const std::size_t rows = rows_of(columns.front());
  std::string out{kMagic};
  std::vector<Chunk> chunks;
  for (const ParquetColumn& column : columns) {
    base::ensure(rows_of(column) == rows, "parquet " + column.name, "columns differ in length");
    const std::string bytes = page(column);
    chunks.push_back({out.size(), bytes.size()});
    out += bytes;
  }
  Thrift footer;
  footer.i32(1, 1);
  put_schema(footer, columns);
  footer.i64(3, static_cast<std::int64_t>(rows));
  footer.list(4, Field::kStruct, 1);
  footer.open(0);
  footer.list(1, Field::kStruct, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) put_chunk(footer, columns[c], chunks[c]);
  footer.i64(2, static_cast<std::int64_t>(out.size() - kMagic.size()));
  footer.i64(3, static_cast<std::int64_t>(rows));
  footer.close();
  footer.text(6, "trnsim");
  const std::string end = footer.take();
  out += end;
  put(out, end.size(), 4);
  return out + std::string{kMagic};
}

}  // namespace analysis
