// Values as bytes, field by field, and back. Not for exchange between machines: sizes and byte order are the host's.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/fields.h"

namespace base {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// A list of such goes as one run of bytes: no byte of it is padding, and any bytes are values.
template <class T>
concept Flat = Plain<T> && !std::same_as<T, bool>;

template <class T>
concept Resizable = requires(T list) {
  list.resize(1);
};

template <class T>
concept FixedList = requires {
  std::tuple_size<T>::value;
}
&&std::ranges::range<T>;

/// An X, or a const one: `each_field(auto& archive, base::Is<X> auto& x)` serves both directions.
template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// Writes all members of a struct, in order. A struct that is not plain, or has members that are not written, has an
/// each_field(archive, struct) of its own, in its namespace, which names them.
class ArchiveWriter {
 public:
  template <class... T>
  void operator()(const T&... parts) {
    (one(parts), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }

  template <class T>
  void one(const T& x) {
    if constexpr (Plain<T>) {
      raw(&x, sizeof x);
    } else if constexpr (FixedList<T>) {
      for (const auto& item : x) one(item);
    } else if constexpr (std::ranges::range<T>) {
      const auto size = static_cast<std::uint64_t>(std::ranges::size(x));
      raw(&size, sizeof size);
      if constexpr (std::ranges::contiguous_range<T> && Flat<std::ranges::range_value_t<T>>) {
        raw(std::ranges::data(x), size * sizeof(std::ranges::range_value_t<T>));
      } else {
        for (const auto& item : x) one(item);
      }
    } else if constexpr (requires { each_field(*this, x); }) {
      each_field(*this, x);
    } else {
      std::apply(*this, fields(x));
    }
  }
  template <class... T>
  void one(const std::variant<T...>& x) {
    one(x.index());
    std::visit([this](const auto& held) { one(held); }, x);
  }
  template <class T>
  void one(const std::optional<T>& x) {
    one(x.has_value());
    if (x) one(*x);
  }
  template <class A, class B>
  void one(const std::pair<A, B>& x) {
    one(x.first), one(x.second);
  }

  std::string bytes_;
};

/// Throws `cut_short` when the bytes end too early or do not form a value of the type.
class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, Error cut_short) : rest_{bytes}, cut_short_{std::move(cut_short)} {}

  template <class... T>
  void operator()(T&... parts) {
    (one(parts), ...);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  void raw(void* to, std::size_t size) {
    if (size > rest_.size()) throw cut_short_;
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }

  template <class T>
  void one(T& x) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      one(byte);
      if (byte > 1) throw cut_short_;
      x = byte == 1;
    } else if constexpr (Plain<T>) {
      raw(&x, sizeof x);
    } else if constexpr (FixedList<T>) {
      for (auto& item : x) one(item);
    } else if constexpr (Resizable<T>) {
      using Item = std::ranges::range_value_t<T>;
      std::uint64_t size = 0;
      one(size);
      // Each item takes a byte at least: a length that was changed must not ask for all memory.
      if (size > rest_.size()) throw cut_short_;
      x.resize(size);
      if constexpr (Flat<Item>) {
        raw(x.data(), size * sizeof(Item));
      } else {
        for (Item& item : x) one(item);
      }
    } else if constexpr (std::ranges::range<T>) {
      map(x);
    } else if constexpr (requires { each_field(*this, x); }) {
      each_field(*this, x);
    } else {
      std::apply(*this, fields(x));
    }
  }
  template <class T>
  void map(T& x) {
    std::uint64_t size = 0;
    one(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      std::remove_const_t<typename T::key_type> key{};
      typename T::mapped_type value{};
      one(key), one(value);
      x.emplace(std::move(key), std::move(value));
    }
  }

  std::string_view rest_;
  Error cut_short_;
};

}  // namespace base
