#include "base/param_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/param_toml.h"
#include "base/suggest.h"
#include "base/text.h"

namespace base {
namespace {

constexpr int kMaxInheritance = 8;

bool is_below(std::string_view key, std::string_view prefix) {
  return prefix.empty() || key == prefix || (key.starts_with(prefix) && key[prefix.size()] == '.');
}

/// Only a value with a source can be a number; "2.31" without one is a version.
bool is_number(const Parameter& parameter) {
  return !parameter.source.empty() && !parameter.values.empty() &&
         std::ranges::all_of(parameter.values, [](auto& text) { return try_quantity(text).has_value(); });
}

bool is_relative(std::string_view text) {
  const auto quantity = try_quantity(text);
  return quantity && quantity->dimension == Dimension::kRelative;
}

/// `old` as written, replaced by `text`: "2x" multiplies it, anything else must be of its dimension.
std::string replaced_number(const std::string& old, std::string_view text, std::string_view where) {
  const Quantity before = parse_quantity(old, where);
  if (is_relative(text) && before.dimension != Dimension::kRelative) {
    return exact_text({before.value * parse_quantity(text, where).value, before.dimension});
  }
  parse_as(text, before.dimension, where);
  return std::string{text};
}

/// The values of `old` after the override. One relative value multiplies every item of a list.
std::vector<std::string> overridden(const Parameter& old, const std::vector<std::string>& values,
                                    std::string_view where) {
  if (!is_number(old)) return values;
  std::vector<std::string> result;
  if (old.list && values.size() == 1 && is_relative(values[0])) {
    for (const std::string& item : old.values) result.push_back(replaced_number(item, values[0], where));
  } else {
    for (const std::string& value : values) result.push_back(replaced_number(old.values[0], value, where));
  }
  return result;
}

std::string shown(const Parameter& parameter) { return fmt::format("{}", fmt::join(parameter.values, ", ")); }

/// Puts the parameters of a file over those it inherits.
void inherit(Parameters& base, Parameters&& own) {
  for (auto& [key, parameter] : own) {
    const auto old = base.find(key);
    if (old != base.end() && is_number(old->second)) {
      const std::string where = fmt::format("{}: {}", parameter.where, key);
      parameter.values = overridden(old->second, parameter.values, where);
      parameter.list = parameter.list || parameter.values.size() > 1;  // a list times "2x"
    }
    base.insert_or_assign(key, std::move(parameter));
  }
}

std::filesystem::path inherited_path(const ParsedToml& toml, const std::filesystem::path& folder) {
  const std::filesystem::path named{toml.inherits}, path = folder / named;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  if (named.has_parent_path())
    for (const std::filesystem::path& own : data_files(named.parent_path().string(), named.extension().string()))
      if (own.filename() == named.filename()) return own;
  throw Error{Fault::kUsage, toml.inherits_where, fmt::format("inherits \"{}\", which does not exist", path.string()),
              "name a file relative to this one, or one of trnsim's, as in \"hw/params/trn1.2xlarge.toml\""};
}

Parameters resolve(std::string_view text, std::string_view name, const std::filesystem::path& folder, int depth) {
  ParsedToml toml = parse_param_toml(text, name);
  if (toml.inherits.empty()) return std::move(toml.parameters);
  if (depth == kMaxInheritance) {
    throw Error{Fault::kUsage, toml.inherits_where, "inherits from itself, or through too many files",
                "shorten the chain of inherited files"};
  }
  const std::filesystem::path path = inherited_path(toml, folder);
  Parameters parameters = resolve(read_file(path), path.string(), path.parent_path(), depth + 1);
  inherit(parameters, std::move(toml.parameters));
  return parameters;
}

}  // namespace

ParamFile ParamFile::load(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw Error{Fault::kUsage, path.string(), "is not a file", "name a parameter file (TOML)"};
  }
  return parse(read_file(path), path.string(), path.parent_path());
}

ParamFile ParamFile::parse(std::string_view toml, std::string_view name, const std::filesystem::path& folder) {
  ParamFile file;
  file.name_ = name;
  file.parameters_ = resolve(toml, name, folder, 0);
  return file;
}

void ParamFile::set(std::string_view key, std::string_view value, std::string_view where) {
  const auto it = parameters_.find(key);
  if (it == parameters_.end()) {
    throw Error{Fault::kUsage, fmt::format("{} {}", where, key), fmt::format("{} has no such key", name_),
                suggest_fix(key, keys())};
  }
  Parameter& p = it->second;
  const std::string place = fmt::format("{} {}", where, key);
  if (value.empty()) throw Error{Fault::kUsage, place, "has no value", fmt::format("write {}=VALUE", key)};
  std::vector<std::string> values =
      overridden(p, p.list ? split(value, ',') : std::vector<std::string>{std::string{value}}, place);
  const std::string by = p.source.empty() ? "" : fmt::format("set to {}, instead of {}: {}", value, shown(p), p.source);
  p.values = std::move(values);
  p.source = by;
  p.where = where;
  p.fitted_on.clear();  // a user's value is not a fit
  p.read_off.clear();
}

void ParamFile::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw Error{Fault::kUsage, "`set`", fmt::format("\"{}\" is not KEY=VALUE", assignment),
                "write it as in `set` hbm.bandwidth=1.6TB/s"};
  }
  set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

Parameter& ParamFile::find(std::string_view key) {
  asked_.emplace(key);
  if (const auto it = parameters_.find(key); it != parameters_.end()) {
    it->second.read = true;
    return it->second;
  }
  std::vector<std::string> unread;  // one of them may be this key, misspelt
  for (const auto& [name, p] : parameters_) {
    if (!p.read) unread.push_back(name);
  }
  const auto near = closest(key, unread);
  throw Error{Fault::kUsage, near ? parameters_.find(*near)->second.where : name_,
              fmt::format("key \"{}\" is missing", key),
              near ? fmt::format("rename \"{}\" if it is a misspelling", *near) : fmt::format("add \"{}\"", key)};
}

Parameter& ParamFile::find_number(std::string_view key) {
  Parameter& p = find(key);
  if (!p.source.empty()) return p;
  throw Error{Fault::kUsage, p.where, fmt::format("\"{}\" has no source", key),
              fmt::format("write {} = {{ value = \"{}\", source = \"...\" }}", key, shown(p))};
}

Parameter& ParamFile::find_single(std::string_view key, std::string_view kind) {
  Parameter& p = find(key);
  if (!p.list) return p;
  throw Error{Fault::kUsage, p.where, fmt::format("\"{}\" is a list but must be {}", key, kind), "write one value"};
}

Sourced<double> ParamFile::read(std::string_view key, Dimension dimension) {
  const Parameter& p = find_number(key);
  find_single(key, describe(dimension));
  return {parse_as(p.values.front(), dimension, fmt::format("{}: {}", p.where, key)), p.source};
}

Sourced<std::int64_t> ParamFile::read_count(std::string_view key) {
  const auto [value, source] = read(key, Dimension::kCount);
  if (value >= 0 && value <= 0x1p53) return {static_cast<std::int64_t>(value), source};
  throw Error{Fault::kUsage, fmt::format("{}: {}", parameter(key).where, key), fmt::format("{} is not a count", value),
              "write a whole number from 0 to 2^53"};
}

Sourced<std::vector<double>> ParamFile::read_list(std::string_view key, Dimension dimension) {
  const Parameter& p = find_number(key);
  if (!p.list)
    throw Error{Fault::kUsage, p.where, fmt::format("\"{}\" is not a list", key), "write [\"...\", \"...\"]"};
  Sourced<std::vector<double>> result{{}, p.source};
  for (const std::string& text : p.values) {
    result.value.push_back(parse_as(text, dimension, fmt::format("{}: {}", p.where, key)));
  }
  return result;
}

Sourced<std::string> ParamFile::read_string(std::string_view key) {
  const Parameter& p = find_single(key, "text");
  return {p.values.front(), p.source};
}

Sourced<std::vector<std::string>> ParamFile::read_strings(std::string_view key) {
  const Parameter& p = find(key);
  if (!p.list)
    throw Error{Fault::kUsage, p.where, fmt::format("\"{}\" is not a list", key), "write [\"...\", \"...\"]"};
  return {p.values, p.source};
}

Sourced<bool> ParamFile::read_flag(std::string_view key) {
  const Parameter& p = find_single(key, "true or false");
  const std::string& text = p.values.front();
  if (text == "true" || text == "false") return {text == "true", p.source};
  throw Error{Fault::kUsage, p.where, fmt::format("\"{}\" is \"{}\" but must be true or false", key, text),
              "write true or false"};
}

bool ParamFile::has(std::string_view key) {
  asked_.emplace(key);
  return parameters_.contains(key);
}

std::vector<std::string> ParamFile::keys(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const auto& [key, p] : parameters_) {
    if (is_below(key, prefix)) names.push_back(key);
  }
  return names;
}

const Parameter& ParamFile::parameter(std::string_view key) const {
  if (const auto it = parameters_.find(key); it != parameters_.end()) return it->second;
  throw Error{Fault::kUsage, name_, fmt::format("has no key \"{}\"", key), suggest_fix(key, keys())};
}

void ParamFile::explain(std::string_view key, std::string_view text) {
  parameter(key);  // throws when the key is missing
  std::string& own = parameters_.find(key)->second.text;
  if (own.starts_with(text)) return;  // as in a file that a run wrote
  own = own.empty() ? std::string{text} : fmt::format("{}; {}", text, own);
}

void ParamFile::ignore(std::string_view prefix) {
  for (auto& [key, p] : parameters_) p.read = p.read || is_below(key, prefix);
}

void ParamFile::reject_unread() const {
  const std::vector<std::string> asked{asked_.begin(), asked_.end()};
  for (const auto& [key, p] : parameters_) {
    if (p.read) continue;
    const auto near = closest(key, asked);
    throw Error{Fault::kUsage, p.where, fmt::format("nothing reads the key \"{}\"", key),
                near ? fmt::format("write \"{}\" or remove it", *near) : "remove it"};
  }
}

std::string ParamFile::to_toml() const { return write_param_toml(parameters_); }

std::uint64_t ParamFile::hash() const {
  Hasher hasher;
  for (const auto& [key, p] : parameters_) {
    hasher.add_text(key);
    hasher.add_text(p.list ? "list" : "one");
    for (const std::string& value : p.values) {
      hasher.add_text(is_number(p) ? exact_text(parse_quantity(value)) : value);  // 0.41 TB/s is 410 GB/s
    }
    hasher.add_text("end");
  }
  return hasher.digest();
}

}  // namespace base
