#include "cli/app.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "cli/other_flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/job/option_table.h"
#include "trnsim/projection.h"
#include "trnsim/version.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

constexpr std::string_view kAbout =
    "a simulator and performance model of AWS Trainium (Trn1; also Trn2 and Inf2) with real training numerics";

/// In the list of verbs only the first line of a description is shown: examples belong to the verb's own help.
class Formatter : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string about = sub->get_description();
    return fmt::format("  {:<12} {}\n", sub->get_name(), about.substr(0, about.find('\n')));
  }
};

template <class Examples>
std::string description(std::string_view about, const Examples& examples) {
  std::string text = fmt::format("{}\n\nExamples:\n", about);
  for (const std::string_view example : examples) text += fmt::format("  {}\n", example);
  return text;
}

void add_common(CLI::App& app, const std::shared_ptr<base::LogOptions>& log) {
  app.add_flag("-q,--quiet", log->quiet, "warnings only on stderr, no progress line")->group("Messages");
  app.add_flag("-v,--verbose", log->verbose, "debug messages on stderr")->group("Messages");
  app.add_flag("--no-color", log->no_color, "no colours; NO_COLOR does the same")->group("Messages");
}

std::vector<std::string> flag_names_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

/// Words of other tools for a flag of ours.
struct OtherWord {
  std::string_view typed, ours;
};
constexpr std::array kOtherWords = {
    OtherWord{"--lr", "--learning_rate"},
    OtherWord{"--epochs", "--num_train_epochs"},
    OtherWord{"--batch_size", "--per_device_train_batch_size"},
    OtherWord{"--per_device_batch_size", "--per_device_train_batch_size"},
    OtherWord{"--train_batch_size", "--per_device_train_batch_size"},
    OtherWord{"--seq_length", "--max_length"},
    OtherWord{"--sequence_length", "--max_length"},
    OtherWord{"--tp_degree", "--tensor_parallel_size"},
    OtherWord{"--pp_degree", "--pipeline_parallel_size"},
    OtherWord{"--fp16", "--numerics fp16"},
    OtherWord{"--mixed_precision", "--numerics bf16"},
};

/// The verb's flag for another tool's word.
std::optional<std::string> word_of(const std::string& typed, const std::vector<std::string>& flags) {
  const auto has = [&](std::string_view ours) {
    return std::ranges::find(flags, ours.substr(0, ours.find(' '))) != flags.end();
  };
  std::string word = typed;
  std::ranges::replace(word, '-', '_');
  word.replace(0, std::min<std::size_t>(2, word.size()), "--");
  const auto other = std::ranges::find(kOtherWords, word, &OtherWord::typed);
  return other != kOtherWords.end() && has(other->ours) ? std::optional{std::string{other->ours}} : std::nullopt;
}

/// Names the flag that was meant, or the verbs that have the one that was typed.
Error unknown_flag(const CLI::App& app, const CLI::App& verb, const std::string& typed) {
  const std::string where = &verb == &app ? "trnsim" : "trnsim " + verb.get_name();
  std::string fix = fmt::format("see {} --help", where);
  std::vector<std::string> others;  // a flag of another verb is no misspelt one of this
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; }))
    if (other->get_option_no_throw(typed)) others.push_back("trnsim " + other->get_name());
  const std::vector<std::string> own = flag_names_of(verb);
  if (const auto word = word_of(typed, own))
    fix = fmt::format("did you mean {}?", *word);
  else if (!others.empty())
    fix = fmt::format("leave it out; it is a flag of {}", fmt::join(others, ", "));
  else if (const auto near = base::closest(typed, own))
    fix = fmt::format("did you mean {}?", *near);
  return {Fault::kUsage, where, fmt::format("unknown flag '{}'", typed), fix};
}

/// The word that the parser did not know, as an error with the nearest known one.
Error unknown(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& verb = chosen.empty() ? app : *chosen.front();
  const std::string where = chosen.empty() ? "trnsim" : "trnsim " + verb.get_name();
  const std::vector<std::string> extras = app.remaining(true);
  std::string typed = extras.empty() ? "" : extras.front();
  if (!typed.starts_with("-")) {
    return {Fault::kUsage, where, fmt::format("unexpected argument '{}'", typed), fmt::format("see {} --help", where)};
  }
  return unknown_flag(app, verb, typed.substr(0, typed.find('=')));
}

/// CLI11 prints an absent bound as 308 digits.
std::string plain(std::string text) {
  const std::size_t range = text.find(" not in range 0.000000 to 1797");
  if (range != std::string::npos) text.replace(range, std::string::npos, " is not a number above 0");
  return text;
}

/// CLI11's words for a flag that is given twice.
void require_single(std::string_view text) {
  constexpr std::string_view several = ": At Most 1 required but received ";
  const std::size_t at = text.find(several);
  if (at == std::string_view::npos) return;
  throw Error{Fault::kUsage, text.substr(0, at), fmt::format("is given {} times", text.substr(at + several.size())),
              "give it once"};
}

/// A mistyped flag is reported before a missing argument.
void require_known_flags(const CLI::App& app, const std::vector<std::string>& args) {
  if (args.front().starts_with("-")) return;
  const CLI::App& verb = *app.get_subcommand(args.front());
  for (std::size_t i = 1; i < args.size() && args[i] != "--"; ++i) {
    const std::string flag = args[i].substr(0, args[i].find('='));
    if (flag.size() < 3 || !flag.starts_with("--")) continue;
    if (const CLI::Option* option = verb.get_option_no_throw(flag)) {
      const bool apart = args[i].size() == flag.size();  // its value is the next word, of any form
      if (apart && option->get_items_expected_max() > 0) ++i;
      continue;
    }
    throw unknown_flag(app, verb, flag);
  }
}

/// The first word must be a verb: CLI11 alone would only say that one is missing.
void require_verb(int argc, const char* const* argv) {
  std::vector<std::string> names;
  names.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::string typed = argc > 1 ? argv[1] : "";
  if (typed.starts_with("-") || std::ranges::find(names, typed) != names.end()) return;
  if (typed.empty()) throw Error{Fault::kUsage, "trnsim", "no command given", "start with: trnsim --help"};
  throw Error{Fault::kUsage, "trnsim", fmt::format("unknown verb '{}'", typed), base::suggest_fix(typed, names)};
}

}  // namespace

std::unique_ptr<CLI::App> make_app() {
  auto app = std::make_unique<CLI::App>(
      description(kAbout, std::array<std::string_view, 3>{"trnsim run bert_emotion",
                                                          "trnsim validate validation/tables/micro.csv",
                                                          "trnsim params trn1.2xlarge"}),
      "trnsim");
  auto log = std::make_shared<base::LogOptions>();
  app->formatter(std::make_shared<Formatter>());
  app->require_subcommand(1);
  app->set_version_flag("--version", version_line());
  app->parse_complete_callback([log] { base::init_log(*log); });
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app->add_subcommand(std::string{verb.name}, std::string{verb.help});
    verb.add(*sub);
    add_common(*sub, log);
    sub->description(description(verb.help, verb.examples));
  }
  return app;
}

namespace {

/// CLI11 takes --bf16=maybe for a number and throws std::invalid_argument, so values of flags are checked first.
void check_flag_values(const CLI::App& app, const std::vector<std::string>& args) {
  if (args.front().starts_with("-")) return;
  const CLI::App* verb = app.get_subcommand(args.front());
  for (const std::string& arg : args) {
    const std::size_t equals = arg.find('=');
    if (!arg.starts_with("--") || equals == std::string::npos) continue;
    const CLI::Option* option = verb->get_option_no_throw(arg.substr(0, equals));
    if (option && option->get_items_expected_max() == 0) parse_bool(arg.substr(0, equals), arg.substr(equals + 1));
  }
}

}  // namespace

int dispatch(int argc, const char* const* argv) {
  // "trnsim help run" is "trnsim run --help".
  if (argc > 1 && std::string_view{argv[1]} == "help") {
    const std::array<const char*, 3> asked = {argv[0], argc > 2 ? argv[2] : "--help", "--help"};
    return dispatch(argc > 2 ? 3 : 2, asked.data());
  }
  require_verb(argc, argv);
  exec_script_verb(argc, argv);
  const auto app = make_app();
  std::vector<std::string> args{argv + 1, argv + argc};
  if (!args.front().starts_with("-")) args = our_flags(*app->get_subcommand(args.front()), args);
  require_known_flags(*app, args);
  check_flag_values(*app, args);
  typed_command().assign(1, argv[0]);
  typed_command().insert(typed_command().end(), args.begin(), args.end());
  try {
    std::ranges::reverse(args);  // as CLI11 takes them
    app->parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    print(app->help());
  } catch (const CLI::CallForVersion&) {
    print(version_line() + "\n");
  } catch (const CLI::ExtrasError&) {
    throw unknown(*app);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app->get_subcommands();
    const std::string where = chosen.empty() ? "trnsim" : "trnsim " + chosen.front()->get_name();
    require_single(error.what());
    throw Error{Fault::kUsage, where, plain(error.what()), fmt::format("see {} --help", where)};
  }
  flush();
  if (const auto& cache = compile_cache()) base::log_info("{}", trnsim::text_of(*cache));
  return base::interrupted() ? base::kExitInterrupted : 0;
}

}  // namespace cli
