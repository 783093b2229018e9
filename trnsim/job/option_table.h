// Options as rows of a table: one row is the name, its default, its help, its limits and its environment variable.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace trnsim {

/// A member of Options, or of one of its groups.
template <class Options, class T>
struct MemberOf {
  T& (*of)(Options&);
  const T& (*of_const)(const Options&);

  T& operator()(Options& options) const { return of(options); }
  const T& operator()(const Options& options) const { return of_const(options); }
};

// Details of at<>.
template <auto first, auto... rest>
constexpr auto& follow(auto& object) {
  if constexpr (sizeof...(rest) == 0)
    return object.*first;
  else
    return follow<rest...>(object.*first);
}
template <class Options, class T>
Options owner_of(T Options::*);

/// The way from the options to a member: at<&Settings::data, &DataSettings::vocab>.
template <auto first, auto... rest>
inline constexpr auto at = [] {  // NOLINT(readability-identifier-naming): read as a function
  using Options = decltype(owner_of(first));
  using T = std::remove_reference_t<decltype(follow<first, rest...>(std::declval<Options&>()))>;
  return MemberOf<Options, T>{[](Options& o) -> T& { return follow<first, rest...>(o); },
                              [](const Options& o) -> const T& { return follow<first, rest...>(o); }};
}();

/// The part of a job without which nothing reads an option.
enum class Needs : std::uint8_t { kNothing, kData, kFiles, kSteps };

/// Whether an option belongs to the job, whose time and price it may change, or only to a run of it; whether it is of
/// trainings alone; and what it needs: data whose amount is known, files of the user's, or more than one step.
struct Effect {
  bool job = false, training = false;
  Needs needs = Needs::kNothing;
};

/// The default of an option is the initial value of its member.
template <class Options>
struct OptionRow {
  using Member =
      std::variant<MemberOf<Options, std::string>, MemberOf<Options, std::int64_t>, MemberOf<Options, double>,
                   MemberOf<Options, bool>, MemberOf<Options, std::vector<std::string>>>;
  std::string_view names;  // "model_id,model_name_or_path": the first one names the option, the others are accepted
  Member member;
  Effect effect;
  std::string_view group;
  std::string_view verbs;  // that take it, with blanks between them; empty: none, it is for files alone
  std::string_view help;
  std::string_view choices = {};  // "linear|constant|cosine"; empty: anything
  std::string_view env = {};      // read when the flag is not given
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::string (*registry)() = nullptr;  // choices that files or tables list, in the form of `choices`

  std::string_view name() const { return names.substr(0, names.find(',')); }
  template <class T>
  bool is() const {
    return std::holds_alternative<MemberOf<Options, T>>(member);
  }
  std::string legal() const { return registry ? registry() : std::string{choices}; }
};

/// Throws Fault::kUsage, with a suggestion, unless `text` is one of `choices`.
void require_choice(std::string_view where, std::string_view text, std::string_view choices);
/// Throws Fault::kUsage unless least <= value <= most.
void require_range(std::string_view where, double value, double least, double most);
/// "true", "1", "yes", "on" and their opposites. Errors: Fault::kUsage for anything else.
bool parse_bool(std::string_view where, std::string_view text);

/// Puts `text` into the row's member, checked. Used for flags, environment, workload files and sweeps alike; `where`
/// names the origin in errors (empty: the setting, in backquotes).
template <class Options>
void set_option(Options& options, const OptionRow<Options>& row, const std::string& text, std::string where = "");

/// Throws as set_option() for an illegal value: for options that a program filled in itself. An empty
/// text is the default.
template <class Options>
void check_options(const Options& options, std::span<const OptionRow<Options>> rows);

// Details only from here on.

void parse_into(std::string& member, std::string_view, const std::string& text);
void parse_into(std::int64_t& member, std::string_view flag, const std::string& text);
void parse_into(double& member, std::string_view flag, const std::string& text);
void parse_into(bool& member, std::string_view flag, const std::string& text);
void parse_into(std::vector<std::string>& member, std::string_view flag, const std::string& text);
std::string show(const std::string& value);
std::string show(std::int64_t value);
std::string show(double value);
std::string show(bool value);
std::string show(const std::vector<std::string>& value);

template <class Options>
void set_option(Options& options, const OptionRow<Options>& row, const std::string& text, std::string where) {
  const std::string at = where.empty() ? "`" + std::string{row.name()} + "`" : std::move(where);
  if (const std::string legal = row.legal(); !legal.empty()) require_choice(at, text, legal);
  std::visit(
      [&](auto member) {
        auto& value = member(options);
        parse_into(value, at, text);
        if constexpr (std::is_same_v<decltype(value), std::int64_t&> || std::is_same_v<decltype(value), double&>) {
          require_range(at, static_cast<double>(value), row.least, row.most);
        }
      },
      row.member);
}

template <class Options>
void check_options(const Options& options, std::span<const OptionRow<Options>> rows) {
  for (const OptionRow<Options>& row : rows) {
    const std::string at = "`" + std::string{row.name()} + "`";
    std::visit(
        [&](auto member) {
          const auto& value = member(options);
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            const std::string legal = row.legal();
            if (!legal.empty() && !value.empty()) require_choice(at, value, legal);
          }
          if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, double>)
            require_range(at, static_cast<double>(value), row.least, row.most);
        },
        row.member);
  }
}

}  // namespace trnsim
