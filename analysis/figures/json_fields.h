// A struct as a JSON object and back, by one list of its members: written files can be read.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/figures/figures.h"
#include "base/error.h"

namespace analysis {

/// A member and its key in JSON.
template <class Struct, class Member>
struct Key {
  std::string_view key;
  Member Struct::*member;
};
template <class Struct, class Member>
Key(const char*, Member Struct::*) -> Key<Struct, Member>;  // clang 14 deduces none of an aggregate
/// The member that holds, by name, all numbers of the object that no other member does.
template <class Struct, class Value>
struct Rest {
  Named<Value> Struct::*member;
};
template <class Struct, class Value>
Rest(Named<Value> Struct::*) -> Rest<Struct, Value>;

/// Specialised beside a struct: `static constexpr auto kList = std::tuple(Key{"key", &Struct::member}, ...)`.
template <class Struct>
struct JsonFields;

namespace json_detail {

template <class T>
concept Listed = requires {
  JsonFields<T>::kList;
};
template <class T>
inline constexpr bool kOptional = false;
template <class T>
inline constexpr bool kOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kNamed = false;
template <class T>
inline constexpr bool kNamed<std::vector<std::pair<std::string, T>>> = true;
template <class T>
inline constexpr bool kList = false;
template <class T>
inline constexpr bool kList<std::vector<T>> = !kNamed<std::vector<T>>;

}  // namespace json_detail

template <class T>
Json json_of(const T& value);

namespace json_detail {

template <class S, class M>
void put(Json& out, const S& from, const Key<S, M>& field) {
  out[field.key] = json_of(from.*field.member);
}
template <class S, class V>
void put(Json& out, const S& from, const Rest<S, V>& rest) {
  for (const auto& [name, value] : from.*rest.member) out[name] = json_of(value);
}

}  // namespace json_detail

/// Absent values and numbers that are not finite are null.
template <class T>
Json json_of(const T& value) {
  if constexpr (json_detail::Listed<T>) {
    Json out = Json::object();
    std::apply([&](const auto&... field) { (json_detail::put(out, value, field), ...); }, JsonFields<T>::kList);
    return out;
  } else if constexpr (json_detail::kOptional<T>) {
    return value ? json_of(*value) : Json{};
  } else if constexpr (json_detail::kNamed<T>) {
    Json out = Json::object();
    for (const auto& [name, one] : value) out[name] = json_of(one);
    return out;
  } else if constexpr (json_detail::kList<T>) {
    Json out = Json::array();
    for (const auto& one : value) out.push_back(json_of(one));
    return out;
  } else if constexpr (std::is_same_v<T, SettingValue>) {
    return std::visit([](const auto& one) { return Json(one); }, value);
  } else {
    return Json(value);
  }
}

/// The location of a value: the file, and the place in it.
struct JsonPlace {
  std::string file, path;

  JsonPlace at(std::string_view key) const {
    return {file, path.empty() ? std::string{key} : fmt::format("{}.{}", path, key)};
  }
  [[noreturn]] void refuse(std::string_view wanted) const {
    throw base::Error{base::Fault::kData, file, fmt::format("{} is not {}", path, wanted),
                      "run the job again with this trnsim"};
  }
};

template <class T>
void read_json(const Json& json, const JsonPlace& place, T& out);

namespace json_detail {

inline std::int64_t whole(const Json& json, const JsonPlace& place) {
  constexpr double kMost = 9e18;
  if (!json.is_number()) place.refuse("a number");
  if (json.is_number_integer()) return json.get<std::int64_t>();
  const auto value = json.get<double>();
  if (!(std::abs(value) < kMost)) place.refuse("a whole number");
  return static_cast<std::int64_t>(value);
}

inline void read_setting(const Json& json, const JsonPlace& place, SettingValue& out) {
  if (json.is_boolean())
    read_json(json, place, out.emplace<bool>());
  else if (json.is_number_integer())
    read_json(json, place, out.emplace<std::int64_t>());
  else if (json.is_number())
    read_json(json, place, out.emplace<double>());
  else if (json.is_array())
    read_json(json, place, out.emplace<std::vector<std::string>>());
  else
    read_json(json, place, out.emplace<std::string>());
}

template <class S, class M>
void take(Json& rest, const JsonPlace& place, S& out, const Key<S, M>& field) {
  const auto found = rest.find(field.key);
  if (found == rest.end()) return;
  if (!found->is_null()) read_json(*found, place.at(field.key), out.*field.member);
  rest.erase(found);
}
template <class S, class V>
void take(Json& rest, const JsonPlace& place, S& out, const Rest<S, V>& field) {
  for (const auto& [name, value] : rest.items())
    if (value.is_number()) read_json(value, place.at(name), (out.*field.member).emplace_back(name, V{}).second);
}

}  // namespace json_detail

/// Unlisted keys are ignored; null leaves a member unchanged. Errors: Fault::kData with the place of a value of
/// another type.
template <class T>
void read_json(const Json& json, const JsonPlace& place, T& out) {
  if constexpr (json_detail::Listed<T>) {
    if (!json.is_object()) place.refuse("an object");
    Json rest = json;
    std::apply([&](const auto&... field) { (json_detail::take(rest, place, out, field), ...); }, JsonFields<T>::kList);
  } else if constexpr (json_detail::kOptional<T>) {
    read_json(json, place, out.emplace());
  } else if constexpr (json_detail::kNamed<T>) {
    if (!json.is_object()) place.refuse("an object");
    for (const auto& [name, value] : json.items()) {
      auto& one = out.emplace_back(name, typename T::value_type::second_type{}).second;
      if (!value.is_null()) read_json(value, place.at(name), one);
    }
  } else if constexpr (json_detail::kList<T>) {
    if (!json.is_array()) place.refuse("a list");
    for (const Json& value : json) {
      const JsonPlace at = place.at(fmt::format("{}", out.size()));
      read_json(value, at, out.emplace_back());
    }
  } else if constexpr (std::is_same_v<T, SettingValue>) {
    json_detail::read_setting(json, place, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) place.refuse("true or false");
    out = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) place.refuse("a text");
    out = json.get<std::string>();
  } else if constexpr (std::is_integral_v<T>) {
    out = static_cast<T>(json_detail::whole(json, place));
  } else {
    if (!json.is_number()) place.refuse("a number");
    out = json.get<double>();
  }
}

}  // namespace analysis
