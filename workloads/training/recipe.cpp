#include "workloads/training/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "workloads/checkpoints/json_file.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

/// Keys that change no number, or are read.
constexpr std::array<std::string_view, 13> kKeys = {"loss_per_step",
                                                    "loss_per_step_bf16",
                                                    "lr",
                                                    "optimizer",
                                                    "schedule",
                                                    "label_smoothing",
                                                    "max_grad_norm",
                                                    "steps",
                                                    "batch",
                                                    "seq",
                                                    "dropout",
                                                    "dtype",
                                                    "torch"};

class RecipeReader {
 public:
  explicit RecipeReader(const std::filesystem::path& file)
      : file_{file.string()}, json_(parse_json(base::read_file(file), file_)) {
    if (!json_.is_object()) fail("", "is not an object");
  }

  Recipe read() {
    for (const auto& [key, value] : json_.items())
      if (std::ranges::find(kKeys, key) == kKeys.end()) fail(key, "is a setting that trnsim cannot repeat");
    Recipe out{.losses = numbers("loss_per_step"), .bf16_losses = {}, .rate = number("lr"), .optimizer = {}};
    if (json_.contains("loss_per_step_bf16")) out.bf16_losses = numbers("loss_per_step_bf16");
    if (!out.bf16_losses.empty() && out.bf16_losses.size() != out.losses.size())
      fail("loss_per_step_bf16", "has another number of steps");
    read_optimizer(text("optimizer"), out.optimizer);
    if (json_.contains("schedule")) read_schedule(text("schedule"), out);
    if (json_.contains("max_grad_norm")) out.optimizer.max_grad_norm = number("max_grad_norm");
    if (json_.contains("label_smoothing")) out.smoothing = number("label_smoothing");
    if (!(out.smoothing >= 0 && out.smoothing < 1)) fail("label_smoothing", "is not a share below 1");
    if (json_.contains("dropout") && number("dropout") != 0)
      fail("dropout", "is not 0, but its random numbers would be PyTorch's");
    if (json_.contains("dtype") && !std::regex_match(text("dtype"), std::regex{"float(32|64)( from float32)?"}))
      fail("dtype", fmt::format("is {}, not float32 or float64", text("dtype")));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error{Fault::kData, key.empty() ? file_ : fmt::format("{}: {}", file_, key), what,
                "export it as tests/golden/README.md says"};
  }
  const json& at(const char* key) const {
    if (!json_.contains(key)) fail(key, "is missing");
    return json_.at(key);
  }
  double number(const char* key) const {
    if (!at(key).is_number()) fail(key, "is not a number");
    return at(key).get<double>();
  }
  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(key, "is not a string");
    return at(key).get<std::string>();
  }
  std::vector<double> numbers(const char* key) const {
    const json& list = at(key);
    if (!list.is_array() || !std::ranges::all_of(list, [](const json& x) { return x.is_number(); }))
      fail(key, "is not a list of numbers");
    if (list.empty()) fail(key, "has no step");
    return list.get<std::vector<double>>();
  }

  void read_optimizer(const std::string& said, OptimizerSpec& o) const {
    static const std::regex kForm{R"((\w+)( betas ([\d.]+) ([\d.]+))?( eps ([\d.e-]+))?( momentum ([\d.]+))?)"
                                  R"( weight_decay ([\d.e-]+))"
                                  R"(( on all( that is trained| but biases and norms)?)?)"};
    std::smatch part;
    if (!std::regex_match(said, part, kForm))
      fail("optimizer", fmt::format("'{}' is not understood: write for example \"AdamW betas 0.9 0.999 eps 1e-8 "
                                    "weight_decay 0.01 on all\"",
                                    said));
    o.name = base::lower(part[1].str());
    if (o.name != "adamw" && o.name != "lamb" && o.name != "sgd")
      fail("optimizer", fmt::format("{} is not AdamW, LAMB or SGD", part[1].str()));
    if (o.name == "sgd" ? part[2].matched || part[5].matched : part[7].matched)
      fail("optimizer", fmt::format("'{}' has factors that {} does not have", said, part[1].str()));
    // Numbers that the pattern admits, one that is too small or too large for a double among them.
    const auto real = [&part](std::size_t i) { return std::strtod(part[i].str().c_str(), nullptr); };
    if (part[2].matched) o.beta1 = real(3), o.beta2 = real(4);
    if (part[5].matched) o.epsilon = real(6);
    if (part[7].matched) o.momentum = real(8);
    o.weight_decay = real(9);
    o.decay_all = part[11].str() != " but biases and norms";
  }

  void read_schedule(const std::string& said, Recipe& out) const {
    static const std::regex kForm{R"((linear|cosine|constant)( to 0)?(, (no warm-up|warm-up of (\d+) steps?))?)"};
    std::smatch part;
    if (!std::regex_match(said, part, kForm) || (part[1] == "constant") == part[2].matched)
      fail("schedule",
           fmt::format("'{}' is not understood: write for example \"linear to 0, warm-up of 2 steps\"", said));
    out.schedule = part[1];
    if (part[5].matched) out.warmup = std::stoll(part[5]);
    if (out.warmup > 0 && out.schedule == "constant") out.schedule = "constant_with_warmup";
  }

  std::string file_;
  json json_;
};

}  // namespace

Recipe read_recipe(const std::filesystem::path& file) { return RecipeReader{file}.read(); }

}  // namespace workloads
