#include "workloads/models/config/table.h"

#include <algorithm>

namespace workloads::config_detail {
namespace {

using nlohmann::json;

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

void check_whole(const Rules& rules, const char* key, std::int64_t value, const Range& range, std::int64_t vocabulary) {
  if (range.kind == Range::Kind::kToken) return rules.token(key, value, vocabulary);
  if (range.kind == Range::Kind::kPositive || (range.kind == Range::Kind::kPositiveOrNone && value != 0))
    rules.positive(key, value, range.most);
}

void check_real(const Rules& rules, const char* key, double value, const Range& range) {
  if (range.kind == Range::Kind::kProbability) return rules.probability(key, value);
  if (range.kind == Range::Kind::kPositive || (range.kind == Range::Kind::kPositiveOrNone && value != 0))
    rules.positive(key, value);
}

}  // namespace

json json_of(const Fixed& value) {
  return std::visit(Cases{[](std::monostate) { return json(); }, [](None) { return json(); },
                          [](Listed list) { return list.name ? json::array({list.name}) : json::array(); },
                          [](const auto& plain) { return json(plain); }},
                    value);
}

json json_of(const View& value, const Range& range) {
  return std::visit(
      Cases{[](std::monostate) { return json(); },
            [&range](const auto* number) {
              return range.kind == Range::Kind::kPositiveOrNone && *number == 0 ? json() : json(*number);
            },
            [](const Activation* activation) { return json(name_of(*activation)); },
            [](const std::optional<double>* number) { return *number ? json(**number) : json(); },
            [](const std::vector<std::int64_t>* list) { return list->size() == 1 ? json(list->front()) : json(*list); },
            [](const bool* flag) { return json(*flag); }},
      value);
}

void read_value(const Keys& keys, const char* key, const Slot& to, std::span<const Activation> choices,
                const Range& range) {
  std::visit(Cases{[](std::monostate) {}, [&](Activation* activation) { keys.optional(key, *activation, choices); },
                   [&](std::optional<double>* number) {
                     if (keys.has(key)) keys.optional(key, number->emplace());
                   },
                   [&](auto* plain) {
                     if (range.kind == Range::Kind::kPositiveOrNone && keys.is_null(key)) *plain = {};
                     keys.optional(key, *plain);
                   }},
             to);
}

void keep_within(const Slot& ids, std::int64_t vocabulary) {
  const auto keep = [last = std::max<std::int64_t>(vocabulary - 1, 0)](std::int64_t& id) { id = std::min(id, last); };
  std::visit(
      Cases{[&keep](std::int64_t* id) { keep(*id); },
            [&keep](std::vector<std::int64_t>* list) { std::ranges::for_each(*list, keep); }, [](const auto&) {}},
      ids);
}

void check_value(const Rules& rules, const char* key, const View& value, const Range& range, std::int64_t vocabulary) {
  std::visit(Cases{[&](const std::int64_t* number) { check_whole(rules, key, *number, range, vocabulary); },
                   [&](const double* number) { check_real(rules, key, *number, range); },
                   [&](const std::optional<double>* number) {
                     if (*number) check_real(rules, key, **number, range);
                   },
                   [&](const std::vector<std::int64_t>* list) {
                     if (list->empty()) rules.fail(key, "has no id");
                     for (const std::int64_t id : *list) check_whole(rules, key, id, range, vocabulary);
                   },
                   [](const auto&) {}},
             value);
}

}  // namespace workloads::config_detail
