#include "frontend/hlo/literal.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace trnsim::frontend::hlo {
namespace {

void append(std::string& bytes, std::uint64_t bits, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
}

/// The payload of "nan(0x7fc1)", or none.
bool nan_bits(std::string_view text, std::uint64_t& bits) {
  const std::size_t open = text.find("(0x");
  if (open == std::string_view::npos) return false;
  const auto [end, problem] = std::from_chars(text.data() + open + 3, text.data() + text.size(), bits, 16);
  return problem == std::errc{} && end != text.data() + open + 3;
}

std::uint64_t float_bits(Cursor& cursor, Element element, std::string_view text) {
  const bool negative = text.starts_with("-");
  const int bits = info(element).bits;
  if (text.substr(negative ? 1 : 0).starts_with("nan")) {
    std::uint64_t out = 0;
    if (nan_bits(text, out)) {
      const std::uint64_t below = (std::uint64_t{1} << (bits - 1)) - 1;
      const std::uint64_t exponent = encode_float(element, std::numeric_limits<double>::infinity());
      const std::uint64_t payload = std::uint64_t{1} << info(element).format.mantissa_bits;
      return (exponent | (out & (payload - 1) & below)) | (negative ? std::uint64_t{1} << (bits - 1) : 0);
    }
    return encode_float(element, std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0));
  }
  if (element == Element::kF32) {
    float value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end == text.data() + text.size() && problem == std::errc{}) return std::bit_cast<std::uint32_t>(value);
  }
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::invalid_argument || end != text.data() + text.size())
    cursor.fail(fmt::format("\"{}\" is not a number of type {}", text.substr(0, 40), info(element).hlo),
                "write a number");
  if (problem == std::errc::result_out_of_range)  // too large or too small for a double: the text says which
    value = text.find("e-") != std::string_view::npos ? 0.0 : std::numeric_limits<double>::infinity();
  return encode_float(element, negative ? -std::abs(value) : value);
}

std::uint64_t integer_bits(Cursor& cursor, Element element, std::string_view text) {
  if (is_bool(element)) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
  } else if (text.starts_with("-")) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size()) return static_cast<std::uint64_t>(value);
  } else {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size()) return value;
  }
  cursor.fail(fmt::format("\"{}\" is not of type {}", text.substr(0, 40), info(element).hlo),
              "write a number of that type");
}

class LiteralReader {
 public:
  LiteralReader(Cursor& cursor, const Shape& shape) : cursor_{cursor}, shape_{shape} {}

  Literal read() {
    left_ = elements_of(shape_, cursor_.where());
    if (left_ == 0) {  // brackets around nothing
      if (cursor_.peek() == '{') cursor_.balanced('{', '}');
      return {};
    }
    if (!array(shape_.dims.size())) return {.elided = true};
    if (left_ != 0) fail();
    return {.bytes = std::move(bytes_)};
  }

 private:
  [[noreturn]] void fail() {
    cursor_.fail("a constant has another number of elements than its shape", "write as many as the shape has");
  }

  void number() {
    if (left_ == 0) fail();
    --left_;
    const Element element = shape_.element;
    if (is_complex(element)) {
      cursor_.expect("(");
      part(real_part(element));
      cursor_.expect(",");
      part(real_part(element));
      cursor_.expect(")");
    } else {
      part(element);
    }
  }
  void part(Element element) {
    const std::string_view text = cursor_.number_text();
    append(bytes_, is_float(element) ? float_bits(cursor_, element, text) : integer_bits(cursor_, element, text),
           stored_bytes(element));
  }

  /// False: the text left the numbers out.
  bool array(std::size_t rank) {
    if (rank == 0) return number(), true;
    cursor_.expect("{");
    if (cursor_.accept("...")) return cursor_.expect("}"), false;
    if (cursor_.accept("}")) return true;
    do {
      if (!array(rank - 1)) return false;
    } while (cursor_.accept(","));
    cursor_.expect("}");
    return true;
  }

  Cursor& cursor_;
  const Shape& shape_;
  std::int64_t left_ = 0;
  std::string bytes_;
};

std::uint64_t bits_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
    bits |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return bits;
}

std::string number_text(Element element, std::uint64_t bits) {
  if (is_bool(element)) return bits ? "true" : "false";
  if (!is_float(element))
    return is_signed_integer(element) ? fmt::format("{}", wrap_to(element, static_cast<std::int64_t>(bits)))
                                      : fmt::format("{}", bits);
  const double value = decode_float(element, bits);
  if (std::isnan(value)) {
    const std::string sign = std::signbit(value) || (bits >> (info(element).bits - 1) & 1) ? "-nan" : "nan";
    const std::uint64_t standard =
        encode_float(element, std::copysign(std::numeric_limits<double>::quiet_NaN(), sign == "nan" ? 1.0 : -1.0));
    if (bits == standard) return sign;
    return fmt::format("{}(0x{:x})", sign, bits & ((std::uint64_t{1} << info(element).format.mantissa_bits) - 1));
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return element == Element::kF64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

class LiteralWriter {
 public:
  LiteralWriter(const Literal& literal, const Shape& shape) : literal_{literal}, shape_{shape} {}
  std::string write() {
    array(0);
    return std::move(out_);
  }

 private:
  void array(std::size_t dim) {
    if (dim == shape_.dims.size()) return number();
    out_ += '{';
    for (std::int64_t i = 0; i < shape_.dims[dim]; ++i) {
      if (i > 0) out_ += ", ";
      array(dim + 1);
    }
    out_ += '}';
  }
  void number() {
    const Element element = shape_.element;
    const Element part = is_complex(element) ? real_part(element) : element;
    const std::size_t size = stored_bytes(part);
    const std::string first = number_text(part, bits_at(literal_.bytes, at_, size));
    at_ += size;
    if (!is_complex(element)) {
      out_ += first;
      return;
    }
    out_ += fmt::format("({}, {})", first, number_text(part, bits_at(literal_.bytes, at_, size)));
    at_ += size;
  }

  const Literal& literal_;
  const Shape& shape_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

Literal read_literal(Cursor& cursor, const Shape& shape) {
  if (shape.element != Element::kTuple) return LiteralReader{cursor, shape}.read();
  Literal out;
  cursor.expect("(");
  for (std::size_t i = 0; i < shape.elements.size(); ++i) {
    if (i > 0) cursor.expect(",");
    out.elements.push_back(read_literal(cursor, shape.elements[i]));
  }
  cursor.expect(")");
  return out;
}

std::string text_of(const Literal& literal, const Shape& shape) {
  if (literal.elided) return "{...}";
  if (shape.element != Element::kTuple) {
    if (elements_of(shape, "a constant") == 0) return "{}";
    return LiteralWriter{literal, shape}.write();
  }
  std::string out = "(";
  for (std::size_t i = 0; i < shape.elements.size(); ++i)
    out += (i > 0 ? ", " : "") + text_of(literal.elements.at(i), shape.elements[i]);
  return out + ")";
}

}  // namespace trnsim::frontend::hlo
