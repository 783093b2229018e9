// The members of a plain struct as a list, so that code that walks all of them cannot forget one.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace base {

/// A struct without constructors, bases and private members.
template <class T>
concept Plainly = std::is_aggregate_v<T> && std::is_class_v<T>;

namespace fields_detail {

/// Stands for a value of any type.
struct Any {
  template <class T>
  constexpr operator T() const {
    return T{};
  }
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Any{})...}; };
}

template <class T, std::size_t N = 0>
constexpr std::size_t count() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>{}))
    return count<T, N + 1>();
  else
    return N;
}

template <std::size_t N>
constexpr auto up_to_6(auto& x) {
  if constexpr (N == 0) {
    return std::tuple{};
  } else if constexpr (N == 1) {
    auto& [a] = x;
    return std::tie(a);
  } else if constexpr (N == 2) {
    auto& [a, b] = x;
    return std::tie(a, b);
  } else if constexpr (N == 3) {
    auto& [a, b, c] = x;
    return std::tie(a, b, c);
  } else if constexpr (N == 4) {
    auto& [a, b, c, d] = x;
    return std::tie(a, b, c, d);
  } else if constexpr (N == 5) {
    auto& [a, b, c, d, e] = x;
    return std::tie(a, b, c, d, e);
  } else {
    auto& [a, b, c, d, e, f] = x;
    return std::tie(a, b, c, d, e, f);
  }
}

template <std::size_t N>
constexpr auto up_to_17(auto& x) {
  static_assert(N <= 17, "one more case of base::fields() is needed");
  if constexpr (N == 7) {
    auto& [a, b, c, d, e, f, g] = x;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (N == 8) {
    auto& [a, b, c, d, e, f, g, h] = x;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (N == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = x;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (N == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (N == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (N == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (N == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (N == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (N == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (N == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  }
}

}  // namespace fields_detail

/// The number of members of T. They must be default constructible and not C arrays.
template <Plainly T>
inline constexpr std::size_t kFieldCount = fields_detail::count<std::remove_cv_t<T>>();

/// References to all members of x in their order, as a tuple. The declaration of the struct is the only list of them: a
/// new member is in all that is derived from this.
template <class T>
requires Plainly<std::remove_cv_t<T>>
constexpr auto fields(T& x) {
  constexpr std::size_t kCount = kFieldCount<std::remove_cv_t<T>>;
  if constexpr (kCount <= 6)
    return fields_detail::up_to_6<kCount>(x);
  else
    return fields_detail::up_to_17<kCount>(x);
}

}  // namespace base
