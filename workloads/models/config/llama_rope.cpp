// "rope_scaling" of Llama and its relatives.
#include "workloads/models/config/llama_rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace workloads {
namespace {

using nlohmann::json;
using R = RopeScaling;

/// "rope_type", in older files "type": "default" changes nothing.
struct RopeName {
  std::string_view name;
  RopeScaling::Type type;
};
constexpr std::array kRopes = {
    RopeName{"llama3", R::Type::kLlama3},   RopeName{"linear", R::Type::kLinear},
    RopeName{"dynamic", R::Type::kDynamic}, RopeName{"longrope", R::Type::kLong},
    RopeName{"yarn", R::Type::kYarn},       RopeName{"su", R::Type::kLong}};  // as Phi-3's first files call it

bool is_llama3(const R& rope) { return rope.type == R::Type::kLlama3; }
bool is_long(const R& rope) { return rope.type == R::Type::kLong; }
bool is_short(const R& rope) { return !is_long(rope); }
bool is_yarn(const R& rope) { return rope.type == R::Type::kYarn; }
bool is_dynamic(const R& rope) { return rope.type == R::Type::kDynamic; }
bool has_alpha(const R& rope) { return rope.alpha > 0; }
bool grows(const R& rope) { return rope.query_growth > 0; }
void unread(const Keys&, R&) {}
bool has_magnitude(const R& rope) { return is_long(rope) || is_yarn(rope); }

void check_high(const Rules& rules, const R& rope) {
  if (!(rope.high_freq_factor >= rope.low_freq_factor && rope.high_freq_factor < 1e12))
    rules.fail("high_freq_factor",
               fmt::format("{} is below low_freq_factor {}", rope.high_freq_factor, rope.low_freq_factor));
}

void check_betas(const Rules& rules, const R& rope) {
  if (!(rope.beta_fast >= rope.beta_slow && rope.beta_fast < 1e12))
    rules.fail("beta_fast", fmt::format("{} is below beta_slow {}", rope.beta_fast, rope.beta_slow));
}

void check_factors(const Rules& rules, const R& rope) {
  for (const auto* list : {&rope.short_factor, &rope.long_factor})
    for (const double factor : *list) rules.positive("long_factor", factor);
}

// clang-format off
constexpr auto kRopeFields = std::to_array<Field<R>>({
    {.key = "rope_type",
     .write = [](const R& r) { return json(std::ranges::find(kRopes, r.type, &RopeName::type)->name); }},
    {.key = "factor", .member = &R::factor, .required = true, .when = is_short},
    {.key = "low_freq_factor", .member = &R::low_freq_factor, .required = true, .when = is_llama3},
    {.key = "high_freq_factor", .member = &R::high_freq_factor, .required = true, .when = is_llama3,
     .check = check_high},
    {.key = "original_max_position_embeddings", .member = &R::original_max_position_embeddings, .required = true,
     .when = is_llama3},
    // Keys of Phi-3; written files have the length it was trained for beside the scaling.
    {.key = "original_max_position_embeddings", .member = &R::original_max_position_embeddings, .when = is_long,
     .written = kNever},
    {.key = "factor", .member = &R::factor, .when = is_long, .written = kNever},
    {.key = "attention_factor", .member = &R::attention_factor, .range = kPositiveOrNone, .when = has_magnitude,
     .written = [](const R& r) { return r.attention_factor > 0; }},
    {.key = "original_max_position_embeddings", .member = &R::original_max_position_embeddings, .when = is_yarn},
    {.key = "beta_slow", .member = &R::beta_slow, .when = is_yarn},
    {.key = "beta_fast", .member = &R::beta_fast, .when = is_yarn, .check = check_betas},
    {.key = "mscale", .member = &R::mscale, .range = kPositiveOrNone, .when = is_yarn,
     .written = [](const R& r) { return r.mscale > 0; }},
    {.key = "mscale_all_dim", .member = &R::mscale_all_dim, .range = kPositiveOrNone, .when = is_yarn,
     .written = [](const R& r) { return r.mscale_all_dim > 0; }},
    // Read below, of the relatives whose code reads them.
    {.key = "alpha", .member = &R::alpha, .range = kPositiveOrNone, .when = is_dynamic, .written = has_alpha,
     .read = unread},
    {.key = "llama_4_scaling_beta", .member = &R::query_growth, .range = kPositiveOrNone, .when = is_yarn,
     .written = grows, .read = unread},
    {.key = "truncate", .member = &R::truncate, .when = is_yarn, .written = [](const R& r) { return !r.truncate; }},
    {.key = "short_factor", .when = is_long, .write = [](const R& r) { return json(r.short_factor); }},
    {.key = "long_factor", .when = is_long, .write = [](const R& r) { return json(r.long_factor); },
     .check = check_factors},
});
// clang-format on

std::vector<double> factors(const Keys& keys, const char* key, std::int64_t pairs) {
  const json list = keys.has(key) ? keys.at(key) : json();
  const bool numbers = list.is_array() && std::ranges::all_of(list, [](const json& x) { return x.is_number(); });
  if (!numbers || std::ssize(list) != pairs)
    keys.fail(fmt::format("\"{}\" is not a list of {} numbers, one for each rotary pair of a head", key, pairs),
              "use the model's config.json as published");
  return list.get<std::vector<double>>();
}

/// Those of Phi-3's configuration where a file does not say.
constexpr std::int64_t kPhi3Positions = 4096;

/// The angles that configurations have where a file says nothing about them.
void read_nothing(LlamaConfig& c) {
  R rope{.type = R::Type::kYarn};
  if (c.kind == LlamaKind::kGptOss) {
    rope.factor = 32, rope.original_max_position_embeddings = 4096, rope.truncate = false;
    c.rope_scaling = rope;
  } else if (c.kind == LlamaKind::kMinistral3) {
    rope.factor = 16, rope.original_max_position_embeddings = 16384, rope.mscale = rope.mscale_all_dim = 1;
    rope.query_growth = 0.1, c.rope_theta = 1e6;
    c.rope_scaling = rope;
  } else if (c.kind == LlamaKind::kApertus) {
    c.rope_scaling = R{};
  }
}

/// Positions over those that the model was trained for first.
double long_factor(const LlamaConfig& c) {
  return static_cast<double>(c.max_position_embeddings) /
         static_cast<double>(std::max<std::int64_t>(1, c.rope_scaling->original_max_position_embeddings));
}

/// Source: transformers, modeling_rope_utils.py; of "longrope" _compute_longrope_parameters() and Ding et al.,
/// arXiv:2402.13753.
void read_scaling(const Keys& keys, LlamaConfig& c) {
  keys.optional("rope_theta", c.rope_theta);
  if (dialect_of(c.kind).positions.share > 0)
    keys.optional("partial_rotary_factor", c.rotary_share);
  else
    keys.only("partial_rotary_factor", 1.0);
  const char* type_key = keys.has("rope_type") ? "rope_type" : "type";
  const json type = keys.has(type_key) ? keys.at(type_key) : json();
  // "mrope": a text's tokens have the same position in each direction of a picture.
  if (type == "default" || type == "mrope") return;
  const auto* known = std::ranges::find(kRopes, type.is_string() ? type.get<std::string>() : "", &RopeName::name);
  if (known == kRopes.end())
    keys.fail(fmt::format("the rotary scaling of type {} is not modelled", type.dump()),
              "use a model without scaled rotary embedding, or with rope_type \"llama3\", \"linear\", \"dynamic\", "
              "\"yarn\" or \"longrope\"");
  R start{.type = known->type};
  if (is_yarn(start) || is_long(start)) start.original_max_position_embeddings = c.max_position_embeddings;
  if (is_long(start) && c.kind == LlamaKind::kPhi3) start.original_max_position_embeddings = kPhi3Positions;
  R& rope = c.rope_scaling.emplace(read_fields<R>(kRopeFields, keys, std::move(start)));
  const DialectPositions& positions = dialect_of(c.kind).positions;
  if (positions.alpha && is_dynamic(rope)) keys.optional("alpha", rope.alpha);
  if (positions.growth && is_yarn(rope)) keys.optional("llama_4_scaling_beta", rope.query_growth);
  if (!is_long(rope)) return;
  const std::int64_t pairs = turned_elements(c) / 2;
  rope.short_factor = factors(keys, "short_factor", pairs);
  rope.long_factor = factors(keys, "long_factor", pairs);
  if (!keys.has("factor")) rope.factor = long_factor(c);
}

}  // namespace

/// transformers 5 renamed the key and moved rope_theta inside, for each kind of layer where these differ.
void read_rope(const Keys& keys, LlamaConfig& c) {
  if (!keys.holds("rope_scaling") && !keys.holds("rope_parameters")) return read_nothing(c);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!keys.has(key)) continue;
    const Keys rope{keys, key};
    const bool by_kind = c.local_theta > 0 && rope.has("full_attention") && rope.has("sliding_attention");
    read_scaling(by_kind ? Keys{rope, "full_attention"} : rope, c);
    if (!by_kind) continue;
    const Keys local{rope, "sliding_attention"};
    local.only("rope_type", "default");
    local.optional("rope_theta", c.local_theta);
  }
}

void check_rope(const Rules& rules, const LlamaConfig& c) {
  if (c.rope_scaling) check_fields<R>(kRopeFields, *c.rope_scaling, rules.inside("rope_scaling"));
}

json rope_json(const LlamaConfig& c) { return c.rope_scaling ? write_fields<R>(kRopeFields, *c.rope_scaling) : json(); }

/// In Phi-3's files the original positions are beside the scaling.
void read_original_positions(const Keys& keys, LlamaConfig& c) {
  if (!keys.has("original_max_position_embeddings")) return;
  keys.optional("original_max_position_embeddings", c.rope_scaling->original_max_position_embeddings);
  c.rope_scaling->factor = long_factor(c);
}

bool has_long_rope(const LlamaConfig& c) { return c.rope_scaling && is_long(*c.rope_scaling); }

}  // namespace workloads
