// A family's config.json as a table of its keys, and the one engine that reads, checks and writes all of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "workloads/models/config/keys.h"

namespace workloads {

/// The values that a number may have. Flags and activations need none.
struct Range {
  enum class Kind : std::uint8_t { kPositive, kPositiveOrNone, kProbability, kToken, kAny };
  Kind kind = Kind::kPositive;
  std::int64_t most = 1 << 24;  // for whole numbers
};
inline constexpr Range kPositive{}, kPositiveOrNone{.kind = Range::Kind::kPositiveOrNone},  // 0, in a file null: none
    kProbability{.kind = Range::Kind::kProbability}, kToken{.kind = Range::Kind::kToken},   // an id of the vocabulary
    kAny{.kind = Range::Kind::kAny};
/// A layer more takes time of every answer. The deepest transformer that was published has 1,000 (Wang et al.,
/// arXiv:2203.00555, "DeepNet").
inline constexpr Range kLayers{.most = 1024};
/// So do heads, wide layers and words. Published models have up to 232 heads (Falcon-180B, arXiv:2311.16867), layers of
/// 81,920 (Megatron-Turing NLG 530B, arXiv:2201.11990) and 901,629 words (XLM-V, arXiv:2301.10472).
inline constexpr Range kHeadCounts{.most = 4096}, kWidth{.most = 1 << 18}, kVocabulary{.most = 1 << 20};

/// A value that a table states: the only one that is computed here, or the one that is always written.
struct Listed {
  const char* name = nullptr;  // null: an empty list
};
struct None {};  // null
using Fixed = std::variant<std::monostate, None, bool, std::int64_t, double, const char*, Listed>;

inline constexpr Activation kGelus[] = {Activation::kGelu, Activation::kGeluTanh};
inline constexpr Activation kEveryGelu[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kQuickGelu};
inline constexpr Activation kGeluTanhOnly[] = {Activation::kGeluTanh};
inline constexpr Activation kReluOnly[] = {Activation::kRelu};
inline constexpr Activation kSiluOnly[] = {Activation::kSilu};
inline constexpr Activation kRelu2Only[] = {Activation::kRelu2};
inline constexpr Activation kXieluOnly[] = {Activation::kXielu};

/// A member of a configuration that a key stands for.
template <class C>
using Member = std::variant<std::monostate, std::int64_t C::*, double C::*, bool C::*, Activation C::*,
                            std::optional<double> C::*, std::vector<std::int64_t> C::*>;

/// One key of a family's config.json. Its default is the member's, unless `otherwise` says better.
template <class C>
struct Field {
  const char* key;
  Member<C> member{};
  bool required = false;
  Range range = kPositive;
  std::span<const Activation> choices{};                  // for an activation
  Fixed only{};                                           // another value would be another model: it is refused
  Fixed always{};                                         // written, and not read
  bool (*when)(const C&) = nullptr;                       // the models that have the key; null: all
  bool (*written)(const C&) = nullptr;                    // whether it is written; null: yes
  void (*otherwise)(C&) = nullptr;                        // sets a default that follows from the keys above it
  void (*read)(const Keys& keys, C&) = nullptr;           // in place of the member
  nlohmann::json (*write)(const C&) = nullptr;            // in place of the member
  void (*check)(const Rules& rules, const C&) = nullptr;  // in place of the range
};

/// For `written`: the key is read and left out of files that are written.
inline constexpr auto kNever = [](const auto&) { return false; };

namespace config_detail {

using Slot = std::variant<std::monostate, std::int64_t*, double*, bool*, Activation*, std::optional<double>*,
                          std::vector<std::int64_t>*>;
using View = std::variant<std::monostate, const std::int64_t*, const double*, const bool*, const Activation*,
                          const std::optional<double>*, const std::vector<std::int64_t>*>;

template <class To, class C, class M>
To part_of(C& config, const M& member) {
  return std::visit(
      [&config](const auto& m) -> To {
        if constexpr (std::is_same_v<std::decay_t<decltype(m)>, std::monostate>)
          return {};
        else
          return &(config.*m);
      },
      member);
}

nlohmann::json json_of(const Fixed& value);
nlohmann::json json_of(const View& value, const Range& range);
void read_value(const Keys& keys, const char* key, const Slot& to, std::span<const Activation> choices,
                const Range& range);
/// Ids of a default that a small vocabulary has not become its last one.
void keep_within(const Slot& ids, std::int64_t vocabulary);
void check_value(const Rules& rules, const char* key, const View& value, const Range& range, std::int64_t vocabulary);

}  // namespace config_detail

/// Reads every key of the table into `config`, which has the family's defaults. Errors: Fault::kData for a key that is
/// missing, of another type, or of a value that is not computed here.
template <class C>
C read_fields(std::span<const Field<C>> table, const Keys& keys, C config) {
  using config_detail::Slot;
  for (const Field<C>& field : table) {
    if (field.when && !field.when(config)) continue;
    if (field.otherwise) field.otherwise(config);
    if (field.required) keys.require(field.key);
    if (field.read)
      field.read(keys, config);
    else if (field.only.index() != 0)
      keys.only(field.key, config_detail::json_of(field.only));
    else
      config_detail::read_value(keys, field.key, config_detail::part_of<Slot>(config, field.member), field.choices,
                                field.range);
    if constexpr (requires { config.vocab_size; })
      if (field.range.kind == Range::Kind::kToken && !keys.has(field.key))
        config_detail::keep_within(config_detail::part_of<Slot>(config, field.member), config.vocab_size);
  }
  return config;
}

/// Errors: Fault::kData for the first value outside its range.
template <class C>
void check_fields(std::span<const Field<C>> table, const C& config, const Rules& rules) {
  std::int64_t vocabulary = 0;
  if constexpr (requires { config.vocab_size; }) vocabulary = config.vocab_size;
  for (const Field<C>& field : table) {
    if (field.when && !field.when(config)) continue;
    if (field.check)
      field.check(rules, config);
    else
      config_detail::check_value(rules, field.key, config_detail::part_of<config_detail::View>(config, field.member),
                                 field.range, vocabulary);
  }
}

template <class C>
nlohmann::json write_fields(std::span<const Field<C>> table, const C& config) {
  nlohmann::json file = nlohmann::json::object();
  for (const Field<C>& field : table) {
    if ((field.when && !field.when(config)) || (field.written && !field.written(config))) continue;
    const config_detail::View value = config_detail::part_of<config_detail::View>(config, field.member);
    if (field.write)
      file[field.key] = field.write(config);
    else if (value.index() != 0)
      file[field.key] = config_detail::json_of(value, field.range);
    else if (field.only.index() != 0 || field.always.index() != 0)
      file[field.key] = config_detail::json_of(field.only.index() != 0 ? field.only : field.always);
  }
  return file;
}

}  // namespace workloads
