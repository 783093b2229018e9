#include "cli/other_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "trnsim/job/option_table.h"

namespace cli {
namespace {

/// Flags of Hugging Face's TrainingArguments and of optimum-neuron's scripts, by subject. None of them
/// changes the time, the memory or the numbers of a simulation.
constexpr std::array kWithoutMeaning = {"do_train",
                                        "do_eval",
                                        "do_predict",
                                        "run_name",
                                        "logging_dir",
                                        "logging_strategy",
                                        "logging_first_step",
                                        "save_strategy",
                                        "save_total_limit",
                                        "async_save",
                                        "push_to_hub",
                                        "hub_model_id",
                                        "hub_token",
                                        "disable_tqdm",
                                        "load_best_model_at_end",
                                        "metric_for_best_model",
                                        "remove_unused_columns",
                                        "dataloader_drop_last",
                                        "ddp_find_unused_parameters",
                                        "log_level",
                                        "cache_dir",
                                        "trust_remote_code",
                                        "use_fast_tokenizer"};

bool is_bool(const std::string& text) {
  const std::string lower = base::lower(text);
  return lower == "true" || lower == "false";
}

bool is_flag(const std::string& text) { return text.size() > 2 && text.starts_with("--"); }

/// A value such as -1, which says "all" or "none" of many counts.
bool is_negative(const std::string& text) {
  return text.size() > 1 && text[0] == '-' && text.find_first_not_of("0123456789.", 1) == std::string::npos;
}

struct GivenFlag {
  std::string name;                  // without dashes
  std::optional<std::string> value;  // after "="
};

GivenFlag flag_of(const std::string& arg) {
  const std::size_t equals = arg.find('=');
  if (equals == std::string::npos) return {arg.substr(2), {}};
  return {arg.substr(2, equals - 2), arg.substr(equals + 1)};
}

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// The verb's option of this name, "-" and "_" being the same; none: it has no such option.
const CLI::Option* option_of(const CLI::App& verb, std::string name) {
  if (const CLI::Option* option = verb.get_option_no_throw("--" + name)) return option;
  name = with_underscores(name);
  if (const CLI::Option* option = verb.get_option_no_throw("--" + name)) return option;
  std::ranges::replace(name, '_', '-');
  return verb.get_option_no_throw("--" + name);
}

class Reader {
 public:
  Reader(const CLI::App& verb, const std::vector<std::string>& args) : verb_{verb}, args_{args} {
    while (at_ < args_.size()) {
      const std::string& arg = args_[at_++];
      if (is_flag(arg))
        flag(arg, flag_of(arg));
      else
        out_.push_back(arg);
    }
    if (!left_out_.empty())
      base::log_info("ignored, as a simulation does not need them: {}", fmt::join(left_out_, " "));
  }

  std::vector<std::string> take() { return std::move(out_); }

 private:
  void flag(const std::string& arg, GivenFlag given) {
    const CLI::Option* option = option_of(verb_, given.name);
    const bool is_switch = option && option->get_items_expected_max() == 0;
    if (is_switch && !given.value && at_ < args_.size() && is_bool(args_[at_])) given.value = args_[at_++];
    if (option) {
      const std::string name = option->get_name();
      out_.push_back(given.value ? name + "=" + *given.value : name);
    } else if (with_underscores(given.name) == "gradient_checkpointing" && verb_.get_option_no_throw("--recompute")) {
      take_value(given);
      if (!given.value || trnsim::parse_bool(arg, *given.value)) out_.insert(out_.end(), {"--recompute", "full"});
    } else if (with_underscores(given.name) == "optim" && verb_.get_option_no_throw("--adam_beta1")) {
      take_value(given);
      if (!base::lower(given.value.value_or("")).starts_with("adamw"))
        throw base::Error{base::Fault::kUsage, arg, "only AdamW is available", "leave it out, or give adamw_torch"};
      left_out_.push_back(arg);
    } else if (std::ranges::find(kWithoutMeaning, with_underscores(given.name)) != kWithoutMeaning.end() &&
               verb_.get_option_no_throw("--instance_type")) {
      take_value(given);
      left_out_.push_back(arg);
    } else {
      out_.push_back(arg);
    }
  }

  void take_value(GivenFlag& given) {
    if (!given.value && at_ < args_.size() && (!args_[at_].starts_with("-") || is_negative(args_[at_])))
      given.value = args_[at_++];
  }

  const CLI::App& verb_;
  const std::vector<std::string>& args_;
  std::size_t at_ = 0;
  std::vector<std::string> out_, left_out_;
};

}  // namespace

std::vector<std::string> our_flags(const CLI::App& verb, const std::vector<std::string>& args) {
  return Reader{verb, args}.take();
}

}  // namespace cli
