// Constants in MLIR's text: dense<...>, numbers in nested lists, one number for all, or hexadecimal bytes.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "frontend/stablehlo/attributes.h"

namespace trnsim::frontend::stablehlo {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void put_bits(std::vector<std::byte>& bytes, std::uint64_t bits, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

/// Truth values are stored as single bits in hexadecimal text; here each has a byte.
std::vector<std::byte> spread_bits(const std::vector<std::byte>& packed, std::int64_t count) {
  std::vector<std::byte> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(packed[static_cast<std::size_t>(i / 8)] >> (i % 8) & std::byte{1});
  return out;
}

std::vector<std::byte> bytes_of(std::string_view digits, const Cursor& in) {
  std::vector<std::byte> out;
  out.reserve(digits.size() / 2);
  if (digits.size() % 2 != 0) in.fail("a constant has half a byte");
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);
    if (high < 0 || low < 0) in.fail("a constant's bytes are not hexadecimal");
    out.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return out;
}

/// "0x..." between quotes.
void read_bytes(Literal& literal, std::string_view digits, const Cursor& in) {
  literal.bytes = bytes_of(digits, in);
  const bool packed = literal.type.element == Element::kI1;
  const auto size = static_cast<std::int64_t>(literal.bytes.size()), count = literal.count();
  if (packed) {
    if (size == 1 && count > 8) {
      literal.splat = true;
      literal.bytes = {literal.bytes[0] == std::byte{0} ? std::byte{0} : std::byte{1}};
    } else if (size < (count + 7) / 8) {
      in.fail(fmt::format("a constant has {} bytes for {} truth values", size, count));
    } else {
      literal.bytes = spread_bits(literal.bytes, count);
    }
    return;
  }
  const auto each = static_cast<std::int64_t>(stored_bytes(literal.type.element));
  literal.splat = size == each;
  if (!literal.splat && (count > size || size != count * each))
    in.fail(
        fmt::format("a constant has {} bytes, but its type {} needs {}", size, mlir_text(literal.type), count * each));
}

/// Nested lists of numbers.
class ListReader {
 public:
  ListReader(Literal& literal, Cursor& in) : literal_{literal}, in_{in} {}

  void read() {
    const bool list = in_.peek() == '[';
    read_level(0);
    const std::int64_t count = literal_.count();
    literal_.splat = !list && numbers_ == 1;
    if (!literal_.splat && numbers_ != count)
      in_.fail(fmt::format("a constant has {} numbers, but its type {} needs {}", numbers_, mlir_text(literal_.type),
                           count));
    if (!in_.is_end()) in_.fail("expected the end of a constant at " + in_.here());
  }

 private:
  void read_level(std::size_t depth) {
    const Cursor::Deeper deeper{in_};
    if (!in_.accept("[")) return read_number();
    if (depth >= literal_.type.dims.size()) in_.fail("a constant has more brackets than its type dimensions");
    std::int64_t entries = 0;
    while (!in_.accept("]")) {
      if (entries++ > 0) in_.expect(",");
      read_level(depth + 1);
    }
    if (entries != literal_.type.dims[depth])
      in_.fail(fmt::format("a constant has a list of {} entries, but dimension {} of {} has {}", entries, depth,
                           mlir_text(literal_.type), literal_.type.dims[depth]));
  }

  void read_number() {
    ++numbers_;
    if (!is_complex(literal_.type.element)) return put(literal_.type.element);
    const Element part = real_part(literal_.type.element);
    in_.expect("(");
    put(part);
    in_.expect(",");
    put(part);
    in_.expect(")");
  }

  void put(Element element) {
    const std::size_t size = stored_bytes(element);
    if (in_.accept("true")) return put_bits(literal_.bytes, is_float(element) ? encode_float(element, 1) : 1, size);
    if (in_.accept("false")) return put_bits(literal_.bytes, 0, size);
    const std::string_view text = in_.number();
    put_bits(literal_.bytes, bits_of(element, text), size);
  }

  std::uint64_t bits_of(Element element, std::string_view text) const {
    const bool negative = text.starts_with('-');
    std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
    const int base = digits.starts_with("0x") ? 16 : 10;
    if (base == 16) digits.remove_prefix(2);
    if (is_float(element) && base == 10) {
      double value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (end != digits.data() + digits.size()) in_.fail(fmt::format("\"{}\" is not a number", text));
      if (error == std::errc::result_out_of_range) value = std::strtod(std::string{digits}.c_str(), nullptr);
      return encode_float(element, negative ? -value : value);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size())
      in_.fail(fmt::format("\"{}\" is not a number of type {}", text, info(element).mlir));
    if (negative) value = std::uint64_t{0} - value;
    return is_float(element) ? value : static_cast<std::uint64_t>(wrap_to(element, static_cast<std::int64_t>(value)));
  }

  Literal& literal_;
  Cursor& in_;
  std::int64_t numbers_ = 0;
};

}  // namespace

LiteralPtr read_dense(std::string_view content, const Type& type, const Cursor& in) {
  if (!type.is_tensor()) in.fail("a constant must be a tensor");
  auto literal = std::make_shared<Literal>();
  literal->type = type;
  Cursor inner{content, in.file(), in.line()};
  if (inner.is_end()) {
    if (literal->count() != 0) in.fail("a constant has no numbers for its type " + mlir_text(type));
    return literal;
  }
  if (inner.peek() == '"') {
    const std::string text = inner.quoted();
    if (!text.starts_with("0x")) in.fail("the compiler does not accept constants of text");
    read_bytes(*literal, std::string_view{text}.substr(2), in);
  } else {
    ListReader{*literal, inner}.read();
  }
  return literal;
}

}  // namespace trnsim::frontend::stablehlo
