// How published tables name a Vision Transformer: "ViT-B/16, 224 pixels", "vit, image 28 patch 7", "deit-tiny".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/published.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using Number = std::optional<std::int64_t>;

/// The sizes that a variant's name stands for, unless a column says otherwise.
void size_by_name(const std::string& name, VitConfig& c) {
  static const std::regex kLetter{R"((?:vit|deit)[-_ ](ti|[tsblh])(?![a-z]))"};
  std::smatch letter;
  const std::string variant = std::regex_search(name, letter, kLetter) ? letter.str(1) : "";
  for (const VitSize& size : kVitSizes)
    if (name.find(size.name) != std::string::npos || variant == size.name.substr(0, 1) ||
        variant == size.name.substr(0, 2)) {
      c.hidden_size = size.hidden, c.num_hidden_layers = size.layers, c.num_attention_heads = size.heads;
      c.intermediate_size = size.ffn;
      return;
    }
}

Number patch_in(const std::string& text) {
  return number_in(text, {R"(patch(?:es)?[-_ ]*(?:size)?[-_ =:]*(?:of )?(\d{1,5}))",
                          R"(\b(\d{1,5}) ?x ?\1(?: pixel)? patch)", R"(\b(\d{1,5})[- ]?(?:px|pixels?)[- ]patch)",
                          R"((?:vit|deit)[-_ ]?(?:tiny|small|base|large|huge|ti|[tsblh])[-_ ]?/ ?(\d{1,5}))",
                          R"((?:vit|deit)[-_ ](?:ti|[tsblh])[-_]?(\d{1,5}))"});
}

Number image_in(const std::string& text) {
  return number_in(text, {R"(patch[-_ ]?\d+[-_](\d{1,5}))", R"([a-z]/\d+ ?[-_@ ] ?(\d{2,5}))",
                          R"((?:image|picture|resolution|input)[-_ ]?(?:size)?[-_ =:]*(?:of )?(\d{1,5}))",
                          R"(\b(\d{1,5}) ?x ?\1\b(?! ?(?:pixel )?patch))",
                          R"(\b(\d{1,5})[- ]?(?:px|pixels?)\b(?![- ]*patch))", R"(@ ?(\d{1,5}))"});
}

/// Patches along a side of a picture whose sequence is `length` long: with the class token, without it, or with a
/// token more, of distillation.
Number grid_of(std::int64_t length) {
  for (const std::int64_t patches : {length - 1, length, length - 2}) {
    const auto side =
        static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(std::max<std::int64_t>(patches, 0)))));
    if (side > 0 && side * side == patches) return side;
  }
  return std::nullopt;
}

/// What of picture and patch is not told follows from the other and from the length, or is as in `c`.
void cut(Number image, Number patch, std::int64_t length, VitConfig& c, std::vector<std::string>& assumed) {
  const Number grid = grid_of(length);
  if (grid && image && !patch && *image % *grid == 0) patch = *image / *grid;
  if (grid && patch && !image) image = *patch * *grid;
  if (grid && !patch && !image && c.image_size % *grid == 0) image = c.image_size, patch = c.image_size / *grid;
  if (grid && !patch && !image) patch = c.patch_size, image = *patch * *grid;
  const bool preset = c.hidden_size > 0;
  if (!image && !preset) assumed.push_back(fmt::format("pictures of {} pixels", c.image_size));
  if (!patch && !preset) assumed.push_back(fmt::format("patches of {} pixels", c.patch_size));
  c.image_size = image.value_or(c.image_size), c.patch_size = patch.value_or(c.patch_size);
}

void require_length(std::int64_t length, const VitConfig& c, std::vector<std::string>& assumed) {
  const std::int64_t tokens = 1 + image_of(c).patches();
  if (length <= 0 || length == tokens) return;
  if (std::abs(length - tokens) > 1)
    throw base::Error{base::Fault::kUsage, "length",
                      fmt::format("pictures of {0} x {0} in patches of {1} x {1} are sequences of {2}, not of {3}",
                                  c.image_size, c.patch_size, tokens, length),
                      "mend the sizes"};
  assumed.push_back(fmt::format("a class token and {} patches", tokens - 1));
}

}  // namespace

std::optional<VitConfig> published_vit(VitConfig c, const PublishedModel& p, std::vector<std::string>& assumed) {
  const std::string name = base::lower(p.name), text = name + "\n" + base::lower(p.notes);
  const auto told = [&](Number (*find)(const std::string&)) {
    const Number in_name = find(name);
    return in_name ? in_name : find(text);
  };
  cut(told(image_in), told(patch_in), p.length, c, assumed);
  const bool preset = c.hidden_size > 0;
  if (!preset) size_by_name(name, c);
  if (c.hidden_size == 0) {  // no published variant: somebody's own
    c.of_torch = true;
    assumed.emplace_back("blocks of torch.nn.MultiheadAttention");
  }
  const auto set = [](std::int64_t& to, std::int64_t size) { to = size > 0 ? size : to; };
  set(c.hidden_size, p.sizes.hidden), set(c.num_hidden_layers, p.sizes.layers);
  set(c.num_attention_heads, p.sizes.heads), set(c.intermediate_size, p.sizes.ffn);
  if (std::min({c.hidden_size, c.num_hidden_layers, c.num_attention_heads, c.intermediate_size}) == 0) return {};
  // Pictures of 28 pixels are those of MNIST and its like: grey, of ten kinds.
  const bool grey = c.image_size == 28;
  Number channels = number_in(text, {R"(\b(\d{1,2})[- ]channels?)"});
  if (!channels && !preset) {
    channels = grey ? 1 : 3;
    assumed.push_back(fmt::format("{} channel{}", *channels, grey ? "" : "s"));
  }
  c.num_channels = channels.value_or(c.num_channels);
  Number labels =
      p.sizes.vocabulary > 0 ? Number{p.sizes.vocabulary} : number_in(text, {R"(\b(\d{1,5})[- ](?:labels|classes))"});
  if (!labels) assumed.push_back(fmt::format("{} labels", labels.emplace(grey ? 10 : 1000)));
  c.label_names.assign(static_cast<std::size_t>(*labels), "");
  check(c, p.name);
  require_length(p.length, c, assumed);
  return c;
}

}  // namespace workloads
