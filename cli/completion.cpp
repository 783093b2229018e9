// `trnsim completion SHELL`, and the manual page: generated from the option tree, so that it never lags behind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/app.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/job/listing.h"
#include "trnsim/job/option_table.h"

namespace cli {

using namespace trnsim;
namespace {

/// One flag of a verb as a shell needs it.
struct Flag {
  std::string name;  // "--format"
  std::string help;
  std::vector<std::string> choices;
  bool takes_value = false;
  bool takes_file = false;
};

struct VerbFlags {
  std::string name, help;
  std::vector<Flag> flags;
  std::vector<std::string> words{};  // words that need no flag, besides files
};

/// "a|b:INT in [0 - 1]": words, and behind a colon the check of them.
std::vector<std::string> choices_of(std::string type_name) {
  type_name.erase(std::min(type_name.find(':'), type_name.size()));
  if (type_name.find('|') == std::string::npos) return {};
  std::vector<std::string> choices;
  for (std::size_t begin = 0; begin <= type_name.size();) {
    const std::size_t end = std::min(type_name.find('|', begin), type_name.size());
    choices.push_back(type_name.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

/// Names that a value may have besides a path: of --workload and WORKLOAD, of --machine and MACHINE, of MODEL.
std::vector<std::string> names_of(std::string_view value) {
  if (value == "WORKLOAD" || value == "workload") return names_in("workloads");
  if (value == "MACHINE" || value == "machine" || value == "instance_type") return names_in("machines");
  if (value == "MODEL") return names_in("models");
  return {};
}

std::vector<VerbFlags> collect() {
  const auto app = make_app();
  std::vector<VerbFlags> verbs;
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
    const std::string about = sub->get_description();
    VerbFlags verb{sub->get_name(), about.substr(0, about.find('\n')), {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const bool value = option->get_items_expected_max() > 0;
        const bool file = name.ends_with("_path") || name.ends_with("_file") || name.ends_with("_dir") ||
                          name == "vocab" || name == "output" || name == "model_id" || name == "resume_from_checkpoint";
        std::vector<std::string> choices = value ? choices_of(option->get_type_name()) : std::vector<std::string>{};
        if (choices.empty()) choices = names_of(name);
        verb.flags.push_back({"--" + name, option->get_description(), std::move(choices), value, file});
      }
      if (option->get_positional()) verb.words = names_of(option->get_name(true));
    }
    verbs.push_back(std::move(verb));
  }
  return verbs;
}

std::string bash(const std::vector<VerbFlags>& verbs) {
  std::vector<std::string> names;
  std::string cases, values;
  for (const VerbFlags& verb : verbs) {
    names.push_back(verb.name);
    std::vector<std::string> flags;
    for (const Flag& flag : verb.flags) {
      flags.push_back(flag.name);
      if (flag.choices.empty()) continue;
      values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", verb.name, flag.name,
                            fmt::join(flag.choices, " "));
    }
    cases +=
        fmt::format("    {}) flags='{}' words='{}' ;;\n", verb.name, fmt::join(flags, " "), fmt::join(verb.words, " "));
  }
  return fmt::format(R"(# bash completion of trnsim, made by `trnsim completion bash`
_trnsim() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" verb="${{COMP_WORDS[1]}}"
  local flags='' words=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0}' -- "$word"))
    return
  fi
  case "$verb:$before" in
{1}  esac
  case "$verb" in
{2}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$word"))
       [ "$verb" = list ] || COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _trnsim trnsim
)",
                     fmt::join(names, " "), values, cases);
}

/// Text inside single quotes of a shell.
std::string quoted(const std::string& text, std::string_view special = {}) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh(const std::vector<VerbFlags>& verbs) {
  std::string list, cases;
  for (const VerbFlags& verb : verbs) {
    list += fmt::format("    '{}:{}'\n", verb.name, quoted(verb.help, ":"));
    cases += fmt::format("    {})\n      _arguments \\\n", verb.name);
    for (const Flag& flag : verb.flags) {
      std::string value;
      if (flag.takes_value) {
        const std::string action = !flag.choices.empty() ? fmt::format("({})", fmt::join(flag.choices, " "))
                                   : flag.takes_file     ? "_files"
                                                         : "";
        value = fmt::format(":value:{}", action);
      }
      cases += fmt::format("        '{}[{}]{}' \\\n", flag.name, quoted(flag.help, "[]:\\"), value);
    }
    cases += verb.words.empty()
                 ? "        '*:file:_files' ;;\n"
                 : fmt::format("        '*: :_alternative \"names:name:({})\" \"files:file:_files\"' ;;\n",
                               fmt::join(verb.words, " "));
  }
  return fmt::format(R"(#compdef trnsim
# zsh completion of trnsim, made by `trnsim completion zsh`
_trnsim() {{
  local -a verbs=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $verb in
{1}  esac
}}
compdef _trnsim trnsim
)",
                     list, cases);
}

std::string fish(const std::vector<VerbFlags>& verbs) {
  std::string text = "# fish completion of trnsim, made by `trnsim completion fish`\n";
  for (const VerbFlags& verb : verbs) {
    text += fmt::format("complete -c trnsim -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, quoted(verb.help));
    if (!verb.words.empty())
      text += fmt::format("complete -c trnsim -n '__fish_seen_subcommand_from {}' -a '{}'\n", verb.name,
                          fmt::join(verb.words, " "));
    for (const Flag& flag : verb.flags) {
      const std::string value = !flag.choices.empty() ? fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "))
                                : flag.takes_value    ? " -r"
                                                      : "";
      text += fmt::format("complete -c trnsim -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n", verb.name,
                          flag.name.substr(2), value, quoted(flag.help));
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh, fish; man: the manual page")->type_name("bash|zsh|fish|man")->required();
  app.final_callback([shell] {
    require_choice("completion", *shell, "bash|zsh|fish|man");
    if (*shell == "man") return print(manual_page());
    const std::vector<VerbFlags> verbs = collect();
    print(*shell == "bash" ? bash(verbs) : *shell == "zsh" ? zsh(verbs) : fish(verbs));
  });
}

}  // namespace cli
