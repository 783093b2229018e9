#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/app.h"
#include "cli/verbs.h"
#include "trnsim/version.h"

namespace cli {

using namespace trnsim;
namespace {

/// Text that troff prints literally.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
      continue;
    }
    if (c == '-') out += '\\';
    out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

/// "--format table|json|csv|md (default: table)".
std::string heading(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += fmt::format("{}-{}", names.empty() ? "" : ", ", name);
  for (const std::string& name : option.get_lnames()) names += fmt::format("{}--{}", names.empty() ? "" : ", ", name);
  if (names.empty()) return fmt::format("\\fI{}\\fR", troff(option.get_name(true)));
  std::string out = fmt::format("\\fB{}\\fR", troff(names));
  if (option.get_items_expected_max() > 0) {
    const std::string words = option.get_type_name(), type = words.substr(0, words.find(':'));  // then CLI11's checks
    out += fmt::format(" \\fI{}\\fR", troff(type.empty() || type == "TEXT" ? "VALUE" : type));
  }
  if (!option.get_default_str().empty()) out += fmt::format(" (default: {})", troff(option.get_default_str()));
  return out;
}

bool common(const CLI::Option& option) {
  return option.get_group() == "Messages" || option.check_lname("help") || option.check_lname("version");
}

std::string list(const CLI::App& app, bool of_all_verbs) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    if (common(*option) != of_all_verbs) continue;
    out += fmt::format(".TP\n{}\n{}\n", heading(*option), troff(option->get_description()));
  }
  return out;
}

std::string verb_section(const CLI::App& sub, const Verb& verb) {
  std::string out = fmt::format(".SS \"trnsim {}\"\n{}\n", troff(verb.name), troff(verb.help));
  out += ".PP\n.nf\n";
  for (const std::string_view example : verb.examples) out += fmt::format(".RS\n{}\n.RE\n", troff(example));
  return out + ".fi\n" + list(sub, false);
}

constexpr std::string_view kExit =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\ndone\n"
    ".TP\n.B 1\na comparison or verification failed\n"
    ".TP\n.B 2\na mistake in a flag, file or program\n"
    ".TP\n.B 3\ndoes not fit in memory\n"
    ".TP\n.B 4\na value became NaN or infinite\n"
    ".TP\n.B 130\nstopped by Ctrl\\-C, SIGTERM, SIGHUP or a closed pipe; trnsim run leaves a checkpoint\n";

}  // namespace

std::string manual_page() {
  const auto app = make_app();
  const std::string about = app->get_description();
  std::string out = fmt::format(".TH TRNSIM 1 \"\" \"trnsim {}\" \"User Commands\"\n.SH NAME\ntrnsim \\- {}\n",
                                version(), troff(about.substr(0, about.find('\n'))));
  out += ".SH SYNOPSIS\n.B trnsim\n.I VERB\n[\\fIflags\\fR]\n.SH FLAGS OF ALL VERBS\n";
  std::string verbs = ".SH VERBS\n";
  for (const Verb& verb : kVerbs) {
    const CLI::App& sub = *app->get_subcommand(std::string{verb.name});
    if (&verb == kVerbs.data()) out += list(sub, true);
    verbs += verb_section(sub, verb);
  }
  return out + verbs + std::string{kExit};
}

}  // namespace cli
