// Flags of a verb whose value is a number, read as the settings of a run are: 50000 or 50k, 0.5.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/text.h"

namespace cli {

/// Errors: Fault::kUsage for a number that is not whole, or below 1.
template <class Number>
Number count_in(const std::string& flag, const std::string& text) {
  const std::int64_t count = base::parse_count(flag, text);
  if (count < 1 || static_cast<std::int64_t>(static_cast<Number>(count)) != count)
    throw base::Error{base::Fault::kUsage, flag, fmt::format("{} is out of range", text),
                      count < 1 ? "give 1 or more" : "give a smaller number"};
  return static_cast<Number>(count);
}

/// "--sequences" of "--sequences,--samples": errors name it.
inline std::string first_name(const std::string& flags) { return flags.substr(0, flags.find(',')); }

/// Adds a flag for a number of things, from 1 on. `number` must outlive the parse.
template <class Number>
CLI::Option* add_count(CLI::App& app, const std::string& flags, Number& number, const std::string& help) {
  const auto take = [&number, name = first_name(flags)](const CLI::results_t& texts) {
    number = count_in<Number>(name, texts.front());
    return true;
  };
  CLI::Option* option = app.add_option(flags, take, help)->type_name("VALUE");
  return number > 0 ? option->default_str(fmt::format("{}", number)) : option;
}

/// The same for several numbers, with commas or blanks.
template <class Number>
CLI::Option* add_counts(CLI::App& app, const std::string& flags, std::vector<Number>& numbers,
                        const std::string& help) {
  const auto take = [&numbers, name = first_name(flags)](const CLI::results_t& texts) {
    numbers.clear();
    for (const std::string& text : texts)
      for (const std::string& part : base::split(text, ',')) numbers.push_back(count_in<Number>(name, part));
    return true;
  };
  CLI::Option* option = app.add_option(flags, take, help)->type_name("VALUE,...");
  option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  return numbers.empty() ? option : option->default_str(fmt::format("{}", fmt::join(numbers, ",")));
}

/// Adds a flag for an amount above 0. `number` must outlive the parse.
inline CLI::Option* add_amount(CLI::App& app, const std::string& flags, double& number, const std::string& help) {
  const auto take = [&number, name = first_name(flags)](const CLI::results_t& texts) {
    number = base::parse_real(name, texts.front());
    if (number <= 0)
      throw base::Error{base::Fault::kUsage, name, fmt::format("{} is not a number above 0", texts.front()),
                        "give more than 0"};
    return true;
  };
  return app.add_option(flags, take, help)->type_name("VALUE");
}

}  // namespace cli
