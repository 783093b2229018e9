#include "base/param_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

namespace base {
namespace {

const std::array<std::string, 5> kFields = {"value", "source", "text", "fitted_on", "read_off"};

class Flattener {
 public:
  Flattener(std::string_view name, ParsedToml& out) : name_{name}, out_{out} {}

  void root(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (key.str() == "inherits") {
        out_.inherits = text_of("inherits", node);
        out_.inherits_where = where(node);
      } else {
        visit(checked(key), node);
      }
    }
  }

 private:
  std::string where(const toml::node& node) const { return fmt::format("{}:{}", name_, node.source().begin.line); }

  [[noreturn]] void fail(const toml::node& node, std::string_view what, std::string_view fix) const {
    throw Error{Fault::kUsage, where(node), what, fix};
  }

  /// One part of a dotted key; a dot or a blank in it would make two keys look the same.
  std::string checked(const toml::key& key) const {
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
    if (std::ranges::all_of(key.str(), plain) && !key.str().empty()) return std::string{key.str()};
    throw Error{Fault::kUsage, fmt::format("{}:{}", name_, key.source().begin.line),
                fmt::format("key \"{}\" has a character other than letters, digits, _ and -", key.str()), "rename it"};
  }

  void visit(const std::string& key, const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
      if (table->contains("value") || table->contains("source")) return entry(key, *table);
      for (const auto& [part, child] : *table) visit(key + "." + checked(part), child);
    } else if (const toml::array* array = node.as_array(); array && !array->empty() && array->get(0)->is_table()) {
      for (std::size_t i = 0; i < array->size(); ++i) visit(fmt::format("{}.{}", key, i), *array->get(i));
    } else {
      bare(key, node);
    }
  }

  /// Without a source: text, a flag, or a list of them. A bare number is kept as text, such as the value of a setting;
  /// reading it as a number reports the missing source.
  void bare(const std::string& key, const toml::node& node) {
    Parameter& parameter = add(key, node);
    fill_values(parameter, node);
  }

  /// { value, source, text, fitted_on, read_off }
  void entry(const std::string& key, const toml::table& table) {
    for (const auto& [field, node] : table) {
      if (std::ranges::find(kFields, field.str()) != kFields.end()) continue;
      fail(node, fmt::format("\"{}\" is not a field of \"{}\"", field.str(), key), suggest_fix(field.str(), kFields));
    }
    for (const char* required : {"value", "source"}) {
      if (table.contains(required)) continue;
      fail(table, fmt::format("\"{}\" has no {}", key, required), fmt::format("add {} = \"...\" to it", required));
    }
    Parameter& parameter = add(key, table);
    fill_values(parameter, *table.get("value"));
    parameter.source = text_of(key + ".source", *table.get("source"));
    if (parameter.source.empty())
      fail(table, fmt::format("the source of \"{}\" is empty", key), "name the source of the value");
    if (const toml::node* text = table.get("text")) parameter.text = text_of(key + ".text", *text);
    if (const toml::node* ids = table.get("fitted_on")) parameter.fitted_on = measurements(key + ".fitted_on", *ids);
    if (const toml::node* ids = table.get("read_off")) parameter.read_off = measurements(key + ".read_off", *ids);
  }

  Parameter& add(const std::string& key, const toml::node& node) {
    Parameter& parameter = out_.parameters[key];
    parameter.key = key;
    parameter.where = where(node);
    return parameter;
  }

  std::vector<std::string> measurements(const std::string& key, const toml::node& node) const {
    const toml::array* array = node.as_array();
    if (array == nullptr || array->empty())
      fail(node, fmt::format("\"{}\" is not a list of measurements", key), "write [\"id\", ...]");
    std::vector<std::string> ids;
    for (const toml::node& id : *array) ids.push_back(text_of(key, id));
    return ids;
  }

  void fill_values(Parameter& parameter, const toml::node& node) const {
    const toml::array* array = node.as_array();
    parameter.list = array != nullptr;
    if (array == nullptr) {
      parameter.values.push_back(scalar(parameter.key, node));
    } else {
      for (const toml::node& item : *array) parameter.values.push_back(scalar(parameter.key, item));
    }
  }

  std::string scalar(const std::string& key, const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    fail(node, fmt::format("\"{}\" is not text, a number, true or false", key), "write it in quotes");
  }

  std::string text_of(const std::string& key, const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    fail(node, fmt::format("\"{}\" is not text", key), "write it in quotes");
  }

  std::string_view name_;
  ParsedToml& out_;
};

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string list_in_quotes(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + in_quotes(item);
  return "[" + out + "]";
}

/// Whether no key has more than 100 parts: toml++ makes a table of each, and takes them down by recursion. Its own
/// limit is for values alone.
bool has_short_keys(std::string_view toml) {
  constexpr int kMostDots = 100;
  int dots = 0;
  char quote = 0;
  bool comment = false;
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const char c = toml[i];
    if (comment) {
      comment = c != '\n';
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (std::string_view{"\n=,{}[]"}.find(c) != std::string_view::npos) {
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return false;
    }
  }
  return true;
}

bool is_toml(std::string_view text) {
  try {
    std::ignore = toml::parse(text);
    return true;
  } catch (const toml::parse_error&) {
    return false;
  }
}

toml::table parsed(std::string_view toml, std::string_view name) {
  if (!has_short_keys(toml))
    throw Error{Fault::kUsage, name, "has a key of more than 100 parts", "check that its content matches its name"};
  try {
    return toml::parse(toml, name);
  } catch (const toml::parse_error& error) {
    if (is_toml(toml)) throw std::bad_alloc{};  // its streams take an end of memory for a mistake in a number
    throw Error{Fault::kUsage, fmt::format("{}:{}", name, error.source().begin.line), error.description(),
                "correct the TOML there"};
  }
}

}  // namespace

ParsedToml parse_param_toml(std::string_view toml, std::string_view name) {
  ParsedToml result;
  Flattener{name, result}.root(parsed(toml, name));
  return result;
}

nlohmann::json parse_toml(std::string_view toml, std::string_view name) {
  std::ostringstream text;
  throw_when_bad(text);
  text << toml::json_formatter{parsed(toml, name)};
  return nlohmann::json::parse(text.str());
}

std::string write_param_toml(const Parameters& parameters) {
  std::string out;
  for (const auto& [key, p] : parameters) {
    const std::string value = p.list ? list_in_quotes(p.values) : in_quotes(p.values.front());
    if (p.source.empty()) {
      out += fmt::format("{} = {}\n", key, value);
      continue;
    }
    out += fmt::format("{} = {{ value = {}, source = {}", key, value, in_quotes(p.source));
    if (!p.text.empty()) out += fmt::format(", text = {}", in_quotes(p.text));
    if (!p.fitted_on.empty()) out += fmt::format(", fitted_on = {}", list_in_quotes(p.fitted_on));
    if (!p.read_off.empty()) out += fmt::format(", read_off = {}", list_in_quotes(p.read_off));
    out += " }\n";
  }
  return out;
}

}  // namespace base
