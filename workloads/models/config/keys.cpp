#include "workloads/models/config/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/checkpoints/json_file.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

struct ActivationName {
  std::string_view name;
  Activation activation;
};
/// The first name of an activation is the one we write. "gelu_new" is the same tanh formula written out.
constexpr std::array kActivations = {ActivationName{"gelu", Activation::kGelu},
                                     ActivationName{"gelu_pytorch_tanh", Activation::kGeluTanh},
                                     ActivationName{"gelu_new", Activation::kGeluTanh},
                                     ActivationName{"gelu_fast", Activation::kGeluTanh},
                                     ActivationName{"quick_gelu", Activation::kQuickGelu},
                                     ActivationName{"silu", Activation::kSilu},
                                     ActivationName{"swish", Activation::kSilu},
                                     ActivationName{"relu", Activation::kRelu},
                                     ActivationName{"relu2", Activation::kRelu2},
                                     ActivationName{"xielu", Activation::kXielu}};

}  // namespace

std::string_view name_of(Activation activation) {
  return std::ranges::find(kActivations, activation, &ActivationName::activation)->name;
}

Keys::Keys(const std::filesystem::path& file) : where_{file.string()}, json_(read_json_file(file)) {
  if (!json_.is_object()) fail("is not a JSON object", "use the config.json of a model");
}

Keys::Keys(const Keys& outer, const char* key)
    : where_{fmt::format("{}: \"{}\"", outer.where_, key)}, outer_{&outer}, inside_{fmt::format("{}.", key)} {
  if (!outer.at(key).is_object()) outer.wrong_type(key, "an object");
  json_ = outer.at(key);
}

Keys::Keys(const Keys& outer, std::span<const KeyName> names)
    : where_{outer.where_}, json_(outer.json_), outer_{&outer}, names_{names} {}

void Keys::optional(const char* key, std::int64_t& value) const {
  if (!has(key)) return;
  if (!at(key).is_number_integer()) wrong_type(key, "a whole number");
  value = at(key).get<std::int64_t>();
}

void Keys::optional(const char* key, double& value) const {
  if (!has(key)) return;
  if (!at(key).is_number()) wrong_type(key, "a number");
  value = at(key).get<double>();
}

void Keys::optional(const char* key, bool& value) const {
  if (!has(key)) return;
  if (!at(key).is_boolean()) wrong_type(key, "true or false");
  value = at(key).get<bool>();
}

void Keys::optional(const char* key, std::vector<std::int64_t>& values) const {
  if (!has(key)) return;
  const json list = at(key).is_array() ? at(key) : json::array({at(key)});
  if (list.empty() || !std::ranges::all_of(list, [](const json& id) { return id.is_number_integer(); }))
    wrong_type(key, "a whole number or a list of them");
  values = list.get<std::vector<std::int64_t>>();
}

void Keys::optional(const char* key, Activation& value, std::span<const Activation> legal) const {
  if (!has(key)) return;
  std::vector<std::string> names;
  for (const auto& row : kActivations)
    if (std::ranges::find(legal, row.activation) != legal.end()) names.emplace_back(row.name);
  const std::string name = at(key).is_string() ? at(key).get<std::string>() : at(key).dump();
  if (std::ranges::find(names, name) == names.end()) {
    fail(fmt::format("\"{}\" is the unknown activation \"{}\"", found(key), name),
         fmt::format("use one of: {}", fmt::join(names, ", ")));
  }
  value = std::ranges::find(kActivations, name, &ActivationName::name)->activation;
}

void Keys::only(const char* key, const json& value) const {
  if (has(key) && at(key) != value)
    fail(fmt::format("\"{}\" is {}; only {} is modelled", found(key), at(key).dump(), value.dump()),
         "use a model without it");
}

bool Keys::lists(const char* key, std::int64_t count, const std::function<json(std::int64_t)>& entry) const {
  const json& list = at(key);
  bool alike = list.is_array() && std::ssize(list) == count;
  for (std::int64_t i = 0; alike && i < count; ++i) alike = list[static_cast<std::size_t>(i)] == entry(i);
  return alike;
}

std::vector<std::string> Keys::label_names() const {
  std::int64_t count = 2;
  optional("num_labels", count);
  if (count < 1 || count > 1'000'000) fail(fmt::format("\"num_labels\" is {}", count), "write 1 or more");
  std::vector<std::string> names;
  if (!has("id2label")) {
    for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("LABEL_{}", i));
    return names;
  }
  const json& map = at("id2label");
  for (std::size_t i = 0; map.is_object() && i < map.size(); ++i) {
    const auto at = map.find(std::to_string(i));
    if (at == map.end() || !at->is_string()) break;
    names.push_back(at->get<std::string>());
  }
  if (names.empty() || names.size() != map.size() ||
      (has("num_labels") && names.size() != static_cast<std::size_t>(count)))
    fail("\"id2label\" does not name each label from 0 on once, as text", "write {\"0\": \"name\", \"1\": ...}");
  return names;
}

void Keys::fail(std::string_view what, std::string_view fix) const { throw Error{Fault::kData, where_, what, fix}; }

void Keys::note(const std::string& key) const {
  asked_.insert(key);
  if (outer_) outer_->note(inside_ + key);
}

std::vector<Keys::Unread> Keys::unread() const {
  std::vector<Unread> out;
  const auto visit = [&](const auto& self, const json& object, const std::string& inside) -> void {
    for (const auto& [key, value] : object.items()) {
      const std::string path = inside + key, first = path + ".";
      const auto within = asked_.lower_bound(first);
      if (!asked_.contains(path))
        out.push_back({path, value});
      else if (value.is_object() && within != asked_.end() && within->starts_with(first))
        self(self, value, first);
    }
  };
  visit(visit, json_, "");
  return out;
}

void Keys::require(const char* key) const {
  if (!has(key))
    fail(fmt::format("has no \"{}\"", spelled(key)), fmt::format("add \"{}\" with its value", spelled(key)));
}

void Keys::wrong_type(const char* key, std::string_view wanted) const {
  fail(fmt::format("\"{}\" is {}, which is not {}", found(key), at(key).dump(), wanted),
       fmt::format("write {} there", wanted));
}

void Rules::positive(const char* key, std::int64_t value, std::int64_t most) const {
  if (value < 1 || value > most) fail(key, fmt::format("{} is not in 1..{}", value, most));
}

void Rules::positive(const char* key, double value) const {
  if (!(value > 0 && value < 1e12)) fail(key, fmt::format("{} is not a positive number", value));
}

void Rules::probability(const char* key, double value) const {
  if (!(value >= 0 && value < 1)) fail(key, fmt::format("{} is not in [0, 1)", value));
}

void Rules::divides(const char* key, std::int64_t value, const char* into_key, std::int64_t into) const {
  if (into % value != 0) fail(key, fmt::format("{} does not divide {} {}", value, in_file(names_, into_key), into));
}

void Rules::token(const char* key, std::int64_t id, std::int64_t vocab_size) const {
  if (id < 0 || id >= vocab_size) fail(key, fmt::format("{} is not in 0..{}", id, vocab_size - 1));
}

void Rules::fail(const char* key, const std::string& what) const {
  throw Error{Fault::kData, where_, fmt::format("\"{}{}\": {}", prefix_, in_file(names_, key), what),
              "correct it to the value that the model was made with"};
}

json labels_by_id(const std::vector<std::string>& names) {
  json out = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) out[std::to_string(i)] = names[i];
  return out;
}

json ids_by_label(const std::vector<std::string>& names) {
  json out = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) out[names[i]] = i;
  return out;
}

}  // namespace workloads
