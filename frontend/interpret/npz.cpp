#include "frontend/interpret/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace trnsim::frontend {
namespace {

using base::Error;
using base::Fault;

/// Bytes of a file, read where they are; a place beyond the end is an error, not a crash.
class Bytes {
 public:
  Bytes(std::string_view all, const std::string& file) : all_{all}, file_{file} {}

  [[noreturn]] void fail(std::string_view what) const {
    throw Error{Fault::kData, file_, what, "write it with numpy.savez"};
  }
  std::string_view part(std::uint64_t at, std::uint64_t count) const {
    if (at > all_.size() || count > all_.size() - at) fail("is cut off");
    return all_.substr(at, count);
  }
  /// A little-endian number.
  std::uint64_t number(std::uint64_t at, std::size_t count) const {
    const std::string_view bytes = part(at, count);
    std::uint64_t out = 0;
    for (std::size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
  }
  std::uint64_t size() const { return all_.size(); }
  const std::string& file() const { return file_; }

 private:
  std::string_view all_;
  const std::string& file_;
};

std::string inflated(const Bytes& zip, std::string_view packed, std::uint64_t size) {
  constexpr std::uint64_t kMostRatio = 1032;  // deflate: 258 bytes of two bits
  if (size > kMostRatio * packed.size()) zip.fail("has an array that cannot be unpacked");
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) zip.fail("cannot be unpacked: zlib does not start");  // no head of its own
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (state != Z_STREAM_END || stream.total_out != size) zip.fail("has an array that cannot be unpacked");
  return out;
}

struct Member {
  std::string name, bytes;  // the name without ".npy"
};

/// Files of a zip archive, by its directory at the end (APPNOTE 6.3: 4.3.7, 4.3.12, 4.3.16, 4.5.3).
std::vector<Member> members_of(const Bytes& zip) {
  constexpr std::uint64_t kEnd = 22, kMostComment = 65'535;
  std::optional<std::uint64_t> end;
  for (std::uint64_t back = kEnd; !end && back <= std::min(zip.size(), kEnd + kMostComment); ++back)
    if (zip.part(zip.size() - back, 4) == "PK\5\6") end = zip.size() - back;
  if (!end) zip.fail("is not an archive of arrays");
  std::vector<Member> out;
  std::uint64_t at = zip.number(*end + 16, 4);
  for (std::uint64_t left = zip.number(*end + 10, 2); left > 0; --left) {
    if (zip.part(at, 4) != "PK\1\2") zip.fail("does not have the directory of a zip file");
    const std::uint64_t packed = zip.number(at + 20, 4), size = zip.number(at + 24, 4), name = zip.number(at + 28, 2);
    const std::uint64_t local = zip.number(at + 42, 4), method = zip.number(at + 10, 2);
    if (packed == 0xffffffff || size == 0xffffffff || local == 0xffffffff) zip.fail("holds an array of 4 GiB or more");
    std::string title{zip.part(at + 46, name)};
    if (title.ends_with(".npy")) title.resize(title.size() - 4);
    const std::uint64_t begin = local + 30 + zip.number(local + 26, 2) + zip.number(local + 28, 2);
    const std::string_view bytes = zip.part(begin, packed);
    if (method != 0 && method != 8) zip.fail("is packed by a method that numpy does not use");
    out.push_back({std::move(title), method == 0 ? std::string{bytes} : inflated(zip, bytes, size)});
    at += 46 + name + zip.number(at + 30, 2) + zip.number(at + 32, 2);
  }
  return out;
}

/// The text behind "'key': " in the head of an array.
std::string_view entry(std::string_view head, std::string_view key) {
  const std::size_t at = head.find(fmt::format("'{}': ", key));
  return at == std::string_view::npos ? std::string_view{} : head.substr(at + key.size() + 4);
}

struct Kind {
  std::string_view name;  // as numpy has it, little-endian; bf16 of ml_dtypes is bytes without a meaning
  Element element;
};
constexpr std::array kKinds = {
    Kind{"'|b1'", Element::kI1},   Kind{"'|i1'", Element::kI8},  Kind{"'|u1'", Element::kU8},
    Kind{"'<i2'", Element::kI16},  Kind{"'<u2'", Element::kU16}, Kind{"'<i4'", Element::kI32},
    Kind{"'<u4'", Element::kU32},  Kind{"'<i8'", Element::kI64}, Kind{"'<u8'", Element::kU64},
    Kind{"'<f2'", Element::kF16},  Kind{"'<f4'", Element::kF32}, Kind{"'<f8'", Element::kF64},
    Kind{"'|V2'", Element::kBf16}, Kind{"'<V2'", Element::kBf16}};

/// NEP 1: the format of one array.
Value array_of(const Bytes& npy, const std::string& name) {
  if (npy.part(0, 6) != "\x93NUMPY") npy.fail(fmt::format("{} is not an array", name));
  const std::size_t width = npy.number(6, 1) == 1 ? 2 : 4;
  const std::uint64_t length = npy.number(8, width);
  const std::string_view head = npy.part(8 + width, length);
  const auto kind =
      std::ranges::find_if(kKinds, [&](const Kind& k) { return entry(head, "descr").starts_with(k.name); });
  if (kind == kKinds.end()) npy.fail(fmt::format("{} has a type that programs do not have", name));
  if (!entry(head, "fortran_order").starts_with("False"))
    npy.fail(fmt::format("{} is in Fortran order: save numpy.ascontiguousarray of it", name));
  std::string_view shape = entry(head, "shape");
  shape = shape.substr(0, shape.find(')'));
  Dims dims;
  for (std::size_t i = shape.find_first_of("0123456789"); i < shape.size(); i = shape.find_first_of("0123456789", i)) {
    std::int64_t size = 0;
    i = static_cast<std::size_t>(std::from_chars(&shape[i], shape.data() + shape.size(), size).ptr - shape.data());
    dims.push_back(size);
  }
  const Type type = tensor_type(kind->element, dims);
  require_room(type);
  const std::size_t bytes = stored_bytes(type.element);
  const auto count = static_cast<std::size_t>(element_count(dims));
  const Bytes data{npy.part(8 + width + length, count * bytes), npy.file()};
  Reals reals;
  Integers integers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = data.number(i * bytes, bytes);
    if (is_float(type.element))
      reals.push_back(decode_float(type.element, bits));
    else
      integers.push_back(wrap_to(type.element, static_cast<std::int64_t>(bits)));
  }
  return is_float(type.element) ? value_of(type, std::move(reals)) : value_of(type, std::move(integers));
}

/// The number at the end of a name.
std::optional<std::size_t> number_of(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::size_t out = 0;
  if (digits == name.size() || std::from_chars(&name[digits], name.data() + name.size(), out).ec != std::errc{})
    return {};
  return out;
}

}  // namespace

std::vector<Value> inputs_from(const std::filesystem::path& npz, const Module& module) {
  const std::string file = npz.string(), all = base::read_file(npz);
  const std::vector<Member> members = members_of(Bytes{all, file});
  const std::vector<Type> types = module.entry_function().parameter_types();
  if (members.size() != types.size())
    throw Error{Fault::kUsage, file,
                fmt::format("has {}, but the program has {}", base::counted(std::ssize(members), "array"),
                            base::counted(std::ssize(types), "parameter")),
                "save one array for each"};
  std::vector<bool> taken(members.size());
  const bool numbered = std::ranges::all_of(members, [&](const Member& m) {
    const auto number = number_of(m.name);
    if (!number || *number >= taken.size() || taken[*number]) return false;
    return static_cast<bool>(taken[*number] = true);
  });
  std::vector<Value> out(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::size_t place = numbered ? *number_of(members[i].name) : i;
    out[place] = array_of(Bytes{members[i].bytes, file}, members[i].name);
    if (!(out[place].type == types[place]))
      throw Error{
          Fault::kUsage, fmt::format("{}: {}", file, members[i].name),
          fmt::format("is {}, but parameter {} is {}", mlir_text(out[place].type), place, mlir_text(types[place])),
          "save an array of that shape and type"};
  }
  return out;
}

}  // namespace trnsim::frontend
