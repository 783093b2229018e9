#include "frontend/hlo/attrs_text.h"

#include <fmt/format.h>

#include <charconv>
#include <tuple>
#include <type_traits>

#include "base/error.h"
#include "base/fields.h"
#include "base/text.h"

namespace trnsim::frontend::hlo {
namespace {

[[noreturn]] void no_words(std::string_view where) {
  throw base::Error{base::Fault::kData, where, "its settings are not those that trnsim writes",
                    "write the program again"};
}

class WordWriter {
 public:
  template <class T>
  void one(const T& x) {
    if constexpr (base::Plainly<T>)
      std::apply([&](const auto&... member) { (one(member), ...); }, base::fields(x));
    else if constexpr (std::is_enum_v<T>)
      out_ += fmt::format(" {}", static_cast<std::int64_t>(x));
    else if constexpr (std::is_floating_point_v<T>)
      out_ += fmt::format(" {}", x);
    else
      out_ += fmt::format(" {}", static_cast<std::int64_t>(x));
  }
  template <class T>
  void one(const std::optional<T>& x) {
    if (x)
      one(*x);
    else
      out_ += " -";
  }
  void one(const std::vector<std::int64_t>& x) {
    one(x.size());
    for (const std::int64_t i : x) one(i);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class WordReader {
 public:
  WordReader(std::string_view words, std::string_view where) : rest_{words}, where_{where} {}

  template <class T>
  void one(T& x) {
    if constexpr (base::Plainly<T>) {
      std::apply([&](auto&... member) { (one(member), ...); }, base::fields(x));
    } else if constexpr (std::is_floating_point_v<T>) {
      parse(next(), x);
    } else {
      std::int64_t number = 0;
      parse(next(), number);
      if constexpr (std::is_enum_v<T>)
        if (number < 0 || number > 127) no_words(where_);
      x = static_cast<T>(number);
    }
  }
  template <class T>
  void one(std::optional<T>& x) {
    const std::string_view before = rest_;
    if (next() == "-") return x.reset();
    rest_ = before;
    one(x.emplace());
  }
  void one(std::vector<std::int64_t>& x) {
    std::size_t size = 0;
    one(size);
    if (size > rest_.size()) no_words(where_);
    x.resize(size);
    for (std::int64_t& i : x) one(i);
  }
  bool at_end() { return base::trim(rest_).empty(); }

 private:
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    if (word.empty()) no_words(where_);
    rest_.remove_prefix(word.size());
    return word;
  }
  template <class T>
  void parse(std::string_view word, T& x) {
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (problem != std::errc{} || end != word.data() + word.size()) no_words(where_);
  }

  std::string_view rest_, where_;
};

template <std::size_t I = 0>
runtime::Attrs read_alternative(std::size_t number, WordReader& reader, std::string_view where) {
  if constexpr (I == std::variant_size_v<runtime::AnyAttrs>) {
    no_words(where);
  } else {
    if (number != I) return read_alternative<I + 1>(number, reader, where);
    std::variant_alternative_t<I, runtime::AnyAttrs> attrs{};
    std::apply([&](auto&... member) { (reader.one(member), ...); }, base::fields(attrs));
    return attrs;
  }
}

std::int64_t number_from(std::string_view word, std::string_view where) {
  std::int64_t out = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (problem != std::errc{} || end != word.data() + word.size()) no_words(where);
  return out;
}

}  // namespace

std::string words_of(const runtime::Attrs& attrs) {
  WordWriter writer;
  std::visit(
      [&](const auto& held) {
        std::apply([&](const auto&... member) { (writer.one(member), ...); }, base::fields(held));
      },
      attrs.held());
  return fmt::format("{}{}", attrs.held().index(), writer.take());
}

runtime::Attrs attrs_from(std::string_view words, std::string_view where) {
  WordReader reader{words, where};
  std::size_t number = 0;
  reader.one(number);
  runtime::Attrs out = read_alternative(number, reader, where);
  if (!reader.at_end()) no_words(where);
  return out;
}

std::string words_of(const runtime::Scope& s) {
  return fmt::format("{}|{}|{}|{}|{}|{}", s.name, s.instance, static_cast<int>(s.phase), s.rng, s.recomputed ? 1 : 0,
                     s.layer);
}

runtime::Scope scope_from(std::string_view words, std::string_view where) {
  const std::vector<std::string> parts = base::split(words, '|');
  if (parts.size() != 6) no_words(where);
  const std::int64_t phase = number_from(parts[2], where);
  if (phase < 0 || phase > 8) no_words(where);
  return {.name = parts[0],
          .instance = static_cast<std::int32_t>(number_from(parts[1], where)),
          .phase = static_cast<isa::Phase>(phase),
          .rng = static_cast<std::uint32_t>(number_from(parts[3], where)),
          .recomputed = parts[4] == "1",
          .layer = static_cast<std::int32_t>(number_from(parts[5], where))};
}

std::string words_of(const isa::GroupTables& tables) {
  std::string out;
  for (const auto& groups : tables) {
    if (!out.empty()) out += ';';
    for (std::size_t g = 0; g < groups.size(); ++g)
      out += fmt::format("{}{}", g > 0 ? "," : "", fmt::join(groups[g], " "));
  }
  return out;
}

isa::GroupTables groups_from(std::string_view words, std::string_view where) {
  isa::GroupTables out;
  if (words.empty()) return out;
  for (const std::string& table : base::split(words, ';')) {
    out.emplace_back();
    for (const std::string& group : base::split(table, ',')) {
      out.back().emplace_back();
      for (const std::string& rank : base::split(group, ' '))
        out.back().back().push_back(static_cast<std::uint32_t>(number_from(rank, where)));
    }
  }
  return out;
}

}  // namespace trnsim::frontend::hlo
