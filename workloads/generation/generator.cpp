#include "workloads/generation/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "runtime/compiler/tiles.h"
#include "runtime/step/session.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/models/decoder/decoder_weights.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

runtime::CompileOptions options_of(const char* name, const GenerationSpec& spec, runtime::ProgramCache* cache) {
  return {.name = name, .ranks = static_cast<std::uint32_t>(spec.tensor_parallel), .cache = cache};
}

/// [in, out] with the rows where the device reads them.
std::vector<float> in_blocks(const std::vector<float>& values, std::int64_t rows) {
  std::vector<float> out(values.size());
  const std::int64_t cols = static_cast<std::int64_t>(values.size()) / rows;
  for (std::int64_t r = 0; r < rows; ++r)
    std::copy_n(values.begin() + r * cols, cols, out.begin() + runtime::blocked_row(r, rows) * cols);
  return out;
}

/// Divides each row by its length, as a head of such rows is stored once it is not trained.
void make_unit_rows(std::vector<float>& values, std::int64_t cols) {
  for (auto row = values.begin(); row < values.end(); row += cols) {
    const double squares = std::inner_product(row, row + cols, row, 0.0);
    const double length = std::max(std::sqrt(squares), 1e-12);
    std::transform(row, row + cols, row, [length](float x) { return static_cast<float>(x / length); });
  }
}

}  // namespace

std::vector<std::int64_t> rows_read(const ModelPtr& model, const GenerationSpec& spec, std::int64_t first,
                                    std::int64_t last) {
  if (model->pairs()) return {spec.length};  // caches are read whole
  return token_buckets(first, last, spec.length);
}

GenerationPrograms::GenerationPrograms(const ModelPtr& model, const GenerationSpec& spec, std::int64_t first,
                                       std::int64_t last, const isa::Target& target, runtime::ProgramCache* cache)
    : prompt{runtime::compile(prompt_graph(model, spec), target, options_of("prompt", spec, cache))} {
  runtime::CompileOptions options = options_of("token", spec, cache);
  options.shared = &prompt.program.regions;
  std::uint64_t bytes = prompt.program.hbm_bytes;
  for (const std::int64_t read : rows_read(model, spec, first, last)) {
    GenerationSpec bucket = spec;
    bucket.read = read;
    tokens.push_back({read, runtime::compile(token_graph(model, bucket), target, options)});
    bytes = std::max(bytes, tokens.back().compiled.program.hbm_bytes);
  }
  // One device runs them in turn, so it needs room for the largest.
  prompt.program.hbm_bytes = bytes;
  for (Token& token : tokens) token.compiled.program.hbm_bytes = bytes;
}

struct Generator::State {
  State(const ModelPtr& c, const GenerationSpec& s, const isa::Target& target, std::unique_ptr<isa::Device> d,
        int threads)
      : config{c},
        arch{decoder_arch(c)},
        spec{s},
        programs{c, s, 1, s.length, target},
        device{std::move(d)},
        host_threads{threads} {}

  void use(const isa::Program& program) {
    if (loaded == &program) return;
    device->load(program);
    loaded = &program;
  }
  runtime::Session session() { return {*device, *loaded}; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(spec.tensor_parallel); }
  std::int64_t vocabulary_part() const { return (arch.vocabulary + spec.tensor_parallel - 1) / spec.tensor_parallel; }

  /// A rank's part of a tensor, in the shape and order of the device.
  void write(const GenerationWeight& w, const WeightSpec& whole, const std::vector<float>& part, std::uint32_t rank) {
    std::vector<float> values = part;
    if (arch.head.unit_rows && w.spec.name == arch.head.name + ".weight") make_unit_rows(values, w.spec.shape[1]);
    values.resize(element_count(w.spec.shape));  // the last rank's part of a vocabulary may be smaller
    if (w.spec.transposed && w.spec.stack == 0)  // parts of a stack are turned when they are taken out
      values = transpose(values, static_cast<std::size_t>(w.spec.shape[0]), static_cast<std::size_t>(w.spec.shape[1]));
    if (w.blocked) values = in_blocks(values, w.spec.shape[w.spec.transposed ? 1 : 0]);
    base::ensure(whole.shape.size() == w.spec.shape.size(), w.spec.name, "has another shape on the device");
    session().write(rank, w.spec.name, values);
  }

  void write_weights(const Weights& weights) {
    const auto all = generation_weights(config, spec.tensor_parallel);
    const ShardPlan plan = generation_plan(spec.tensor_parallel);
    for (const WeightSpec& whole : config->weights())
      for (std::uint32_t r = 0; r < ranks(); ++r) {
        Weights shard;
        const std::vector<float>& part = shard.values[whole.name] =
            shard_of(whole, weights.values.at(whole.name), config, plan, r);
        for (const GenerationWeight& w : all)
          if (w.spec.in_file() == whole.name ||
              (arch.head.tied && whole.name == arch.embedding.name + ".weight" && &w == &all.back()))
            write(w, whole, w.spec.fused.empty() ? part : device_values(shard, w.spec), r);
      }
    for (const HostTable& table : rope_tables(arch.block.rotary, spec.length))
      for (std::uint32_t r = 0; r < ranks(); ++r) session().write(r, table.name, table.values);
    if (!arch.block.attention.slopes.empty())
      for (std::uint32_t r = 0; r < ranks(); ++r)
        session().write(r, "slopes", slopes_of_rank(arch.block.attention, ranks(), r));
  }

  std::int64_t ring_rows() const { return spec.cache_rows(arch.block.attention.window.tokens); }

  /// The rows of prompts with which their rings begin: the last token that has the place. Where a prompt has none yet
  /// any other does, which is hidden until it is overwritten.
  std::vector<std::int32_t> kept_rows() const {
    const std::int64_t rows = ring_rows();
    std::vector<std::int32_t> kept;
    for (std::size_t b = 0; b < positions.size(); ++b)
      for (std::int64_t slot = 0; slot < rows; ++slot) {
        const std::int64_t turns = std::max<std::int64_t>(0, positions[b] - 1 - slot) / rows;
        kept.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(b) * spec.prompt + slot + turns * rows));
      }
    return kept;
  }

  std::vector<float> run(const std::vector<std::int32_t>& ids, const char* name,
                         const std::vector<std::int32_t>& places) {
    runtime::Session io = session();
    const std::int64_t part = vocabulary_part();
    std::vector<std::int32_t> learned = places;  // where tables of positions begin with rows of no token
    for (std::int32_t& place : learned) place += static_cast<std::int32_t>(arch.embedding.first_position);
    std::vector<std::int32_t> slots = places;
    for (std::int32_t& slot : slots) slot %= static_cast<std::int32_t>(ring_rows());
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      const auto first = static_cast<std::int32_t>(r * part);
      std::vector<std::int32_t> mine;
      std::vector<float> is_mine;
      for (const std::int32_t id : ids) {
        base::ensure(id >= 0 && id < arch.vocabulary, "generation",
                     fmt::format("token {} is not in the vocabulary", id));
        const bool here = id >= first && id < first + part;
        mine.push_back(here ? id - first : 0);
        is_mine.push_back(here ? 1.0F : 0.0F);
      }
      io.write(r, "input_ids", mine);
      if (ranks() > 1) io.write(r, "vocabulary", is_mine);
      io.write(r, name, places);
      if (io.has(r, "places")) io.write(r, "places", learned);
      if (io.has(r, "slots")) io.write(r, "slots", slots);
      if (io.has(r, "kept")) io.write(r, "kept", kept_rows());
    }
    return run_loaded();
  }

  /// For a model that reads one text and generates another: the logits of the token after `tokens`, which are at
  /// `place`. The text to read came with begin().
  std::vector<float> write_after(std::span<const std::int32_t> tokens, std::int64_t place) {
    runtime::Session io = session();
    const auto batch = static_cast<std::size_t>(spec.batch);
    std::vector<float> seen;
    for (std::size_t b = 0; b < batch; ++b)
      for (std::int64_t key = 0; key < spec.length; ++key) seen.push_back(key <= place ? 1.0F : 0.0F);
    io.write(0, "decoder_input_ids", std::vector<std::int32_t>(tokens.begin(), tokens.end()));
    io.write(0, "positions", std::vector<std::int32_t>(batch, static_cast<std::int32_t>(place)));
    io.write(0, "seen", seen);
    if (io.has(0, "places")) {
      const std::int64_t row = arch.embedding.first_position + place;
      io.write(0, "places", std::vector<std::int32_t>(batch, static_cast<std::int32_t>(row)));
    }
    for (const HostTable& table : config->host_tables({.length = spec.length}, place))
      if (io.has(0, table.name)) io.write(0, table.name, table.values);
    if (io.has(0, "source_mask")) io.write(0, "source_mask", source_mask);
    return run_loaded();
  }

  /// The logits of the first token that is written, behind sources that the host has written.
  std::vector<float> write_first() {
    const TextPairs& pairs = *config->pairs();
    positions.assign(static_cast<std::size_t>(spec.batch), 1);
    for (const HostTable& table : config->tables({.length = spec.prompt}))
      if (session().has(0, table.name)) session().write(0, table.name, table.values);
    const auto start = static_cast<std::int32_t>(pairs.start);
    std::vector<float> logits = write_after(std::vector<std::int32_t>(positions.size(), start), 0);
    if (!pairs.forced) return allowed(std::move(logits));
    // As transformers' ForcedBOSTokenLogitsProcessor: nothing else is possible.
    std::ranges::fill(logits, std::numeric_limits<float>::lowest() / 2);
    for (std::int64_t b = 0; b < spec.batch; ++b)
      logits[static_cast<std::size_t>(b * arch.vocabulary + *pairs.forced)] = 0;
    return logits;
  }

  /// The logits without those of tokens that are never written.
  std::vector<float> allowed(std::vector<float> logits) const {
    if (!config->pairs()) return logits;
    for (const std::int64_t id : config->pairs()->never)
      for (std::size_t at = static_cast<std::size_t>(id); at < logits.size();
           at += static_cast<std::size_t>(arch.vocabulary))
        logits[at] = std::numeric_limits<float>::lowest() / 2;
    return logits;
  }

  std::vector<float> run_loaded() {
    runtime::Session io = session();
    const std::int64_t part = vocabulary_part();
    device->run({.step = step++, .host_threads = host_threads});
    std::vector<float> logits(static_cast<std::size_t>(spec.batch * arch.vocabulary));
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      const std::vector<float> some = io.read(r, "logits");
      const std::int64_t first = r * part, count = std::min(part, arch.vocabulary - first);
      for (std::int64_t b = 0; b < spec.batch; ++b)
        std::copy_n(some.begin() + b * part, count, logits.begin() + b * arch.vocabulary + first);
    }
    return logits;
  }

  const ModelPtr config;
  const DecoderArch arch;
  const GenerationSpec spec;
  const GenerationPrograms programs;
  std::unique_ptr<isa::Device> device;
  const int host_threads;
  const isa::Program* loaded = nullptr;
  std::vector<std::int32_t> positions;  // of the next token of each sequence
  std::vector<float> source_mask;       // of texts that are read: 1 where there is a token
  std::uint32_t step = 0;
};

Generator::Generator(const ModelPtr& model, const GenerationSpec& spec, const Weights& weights,
                     const isa::Target& target, std::unique_ptr<isa::Device> device, int host_threads)
    : state_{std::make_unique<State>(model, spec, target, std::move(device), host_threads)} {
  state_->use(state_->programs.prompt.program);
  state_->write_weights(weights);
}

Generator::~Generator() = default;

std::int64_t Generator::vocabulary() const { return state_->arch.vocabulary; }
const GenerationPrograms& Generator::programs() const { return state_->programs; }

std::vector<float> Generator::begin(const std::vector<std::vector<std::int32_t>>& prompts) {
  State& s = *state_;
  base::ensure(prompts.size() == static_cast<std::size_t>(s.spec.batch), "generation",
               "not as many prompts as planned");
  const TextPairs* pairs = s.config->pairs();
  const auto fill = static_cast<std::int32_t>(pairs ? pairs->pad : 0);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(s.spec.batch * s.spec.prompt), fill), last;
  s.positions.clear();
  s.source_mask.assign(ids.size(), 0);
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    const auto tokens = static_cast<std::int64_t>(prompts[b].size()),
               row = static_cast<std::int64_t>(b) * s.spec.prompt;
    if (tokens < 1 || tokens > s.spec.prompt)
      throw Error{Fault::kUsage, "`prompt`", fmt::format("prompt {} has {}", b + 1, base::counted(tokens, "token")),
                  fmt::format("use 1 to {}", s.spec.prompt)};
    std::ranges::copy(prompts[b], ids.begin() + row);
    std::fill_n(s.source_mask.begin() + row, tokens, 1.0F);
    last.push_back(static_cast<std::int32_t>(row + tokens - 1));
    s.positions.push_back(static_cast<std::int32_t>(tokens));
  }
  s.use(s.programs.prompt.program);
  if (!pairs) return s.run(ids, "last", last);
  s.session().write(0, "input_ids", ids);
  return s.write_first();
}

std::vector<float> Generator::begin(std::span<const float> frames) {
  State& s = *state_;
  const SoundShape* shape = s.config->sound();
  base::ensure(shape && std::ssize(frames) == s.spec.batch * shape->elements(), "generation",
               "not as many frames as planned");
  s.use(s.programs.prompt.program);
  s.session().write(0, "frames", std::vector<float>(frames.begin(), frames.end()));
  return s.write_first();
}

std::vector<float> Generator::next(std::span<const std::int32_t> tokens) {
  State& s = *state_;
  base::ensure(tokens.size() == s.positions.size(), "generation", "does not have one token for each sequence");
  const std::int64_t last = std::ranges::max(s.positions), most = std::min(s.spec.length, s.arch.positions);
  if (last >= most)
    throw Error{Fault::kUsage, "`max_new_tokens`", fmt::format("the {} positions are full", most),
                "generate fewer tokens"};
  const auto token = std::ranges::find_if(s.programs.tokens, [&](const auto& t) { return last < t.read; });
  s.use(token->compiled.program);
  std::vector<float> logits =
      s.config->pairs() ? s.write_after(tokens, last) : s.run({tokens.begin(), tokens.end()}, "positions", s.positions);
  for (std::int32_t& p : s.positions) ++p;
  return s.allowed(std::move(logits));
}

}  // namespace workloads
