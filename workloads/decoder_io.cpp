#include "workloads/decoder_io.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/hyper.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

void require_computable(const ModelConfig& config, std::int64_t tensor) {
  const auto* llama = std::get_if<LlamaConfig>(&config);
  if (!llama)
    throw Error{Fault::kUsage, std::string{family_of(config)}, "its numbers are not computed yet, only its time",
                "use --numerics off, or a Llama"};
  if (llama->vocab_size % tensor != 0)
    throw Error{Fault::kUsage, "--tensor_parallel_size",
                fmt::format("{} does not divide the vocabulary of {}", tensor, llama->vocab_size),
                "use --numerics off, or a degree that divides it"};
  if (llama->num_key_value_heads % tensor != 0)
    throw Error{Fault::kUsage, "--tensor_parallel_size",
                fmt::format("{} does not divide the {} key-value heads", tensor, llama->num_key_value_heads),
                "use --numerics off, or a degree that divides them"};
}

}  // namespace

DecoderIo::DecoderIo(const ModelConfig& config, const StepSpec& spec, std::vector<ZeroBucket> zero)
    : config_{config},
      spec_{spec},
      zero_{std::move(zero)},
      plan_{.tensor_parallel_size = spec.tensor_parallel},
      whole_{model_weights(config)},
      parts_{decoder_weights(config, spec.tensor_parallel)} {
  require_computable(config, spec.tensor_parallel);
}

const WeightSpec& DecoderIo::part_of(const WeightSpec& whole) const {
  const auto found = std::ranges::find(parts_, whole.name, &WeightSpec::name);
  base::ensure(found != parts_.end(), whole.name, "no rank holds it");
  return *found;
}

std::int64_t DecoderIo::vocabulary_part() const {
  return std::get<LlamaConfig>(config_).vocab_size / spec_.tensor_parallel;
}

std::vector<float> DecoderIo::device_part(const WeightSpec& whole, std::span<const float> values,
                                          std::int64_t tensor) const {
  Weights part;
  part.values[whole.name] = shard_of(whole, values, config_, plan_, tensor);
  return part.for_device(part_of(whole));
}

void DecoderIo::write_weights(runtime::Session& session, const Weights& weights) const {
  for (const WeightSpec& w : whole_)
    for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
      const std::vector<float> part = device_part(w, weights.values.at(w.name), t);
      for (std::uint32_t d = 0; d < spec_.ranks; ++d) {
        session.write(rank_of(d, t), w.name, part);
        if (session.has("master." + w.name)) session.write(rank_of(d, t), "master." + w.name, part);
      }
    }
  write_shards(session, weights);
}

void DecoderIo::write_shards(runtime::Session& session, const Weights& weights) const {
  for (const ZeroBucket& bucket : zero_)
    for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
      std::vector<float> all;
      for (const std::string& name : bucket.weights) {
        const auto whole = std::ranges::find(whole_, name, &WeightSpec::name);
        const std::vector<float> part = device_part(*whole, weights.values.at(name), t);
        all.insert(all.end(), part.begin(), part.end());
        all.resize(runtime::aligned(all.size()));
      }
      const auto size = static_cast<std::size_t>(session.region(bucket.name).shape.at(1));
      all.resize(size * spec_.ranks);
      for (std::uint32_t d = 0; d < spec_.ranks; ++d)
        session.write(rank_of(d, t), bucket.name, std::span<const float>{all}.subspan(d * size, size));
    }
}

void DecoderIo::write_tables(runtime::Session& session) const {
  const RopeTable table = rope_table(std::get<LlamaConfig>(config_), spec_.length);
  for (std::uint32_t r = 0; r < spec_.world(); ++r) {
    session.write(r, "rope.cos", table.cos);
    session.write(r, "rope.sin", table.sin);
  }
}

void DecoderIo::write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                            const DecoderBatch& batch) const {
  const std::int64_t part = vocabulary_part();
  for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
    std::vector<std::int32_t> ids, labels;
    std::vector<float> mine;
    const auto first = static_cast<std::int32_t>(t * part);
    const auto is_mine = [&](std::int32_t id) { return id >= first && id < first + part; };
    for (const std::int32_t id : batch.ids) {
      ids.push_back(is_mine(id) ? id - first : 0);
      mine.push_back(is_mine(id) ? 1.0F : 0.0F);
    }
    for (const std::int32_t id : batch.targets) labels.push_back(is_mine(id) ? id - first : -1);
    const std::uint32_t rank = rank_of(data_rank, t);
    session.write(rank, micro_name("input_ids", micro_batch), ids);
    if (spec_.tensor_parallel > 1) session.write(rank, micro_name("vocabulary", micro_batch), mine);
    if (!spec_.training && !spec_.with_loss) continue;
    session.write(rank, micro_name("labels", micro_batch), labels);
    session.write(rank, micro_name("weights", micro_batch), batch.weights);
  }
}

void DecoderIo::write_hyper(runtime::Session& session, std::span<const float> values) const {
  for (std::uint32_t r = 0; r < spec_.world(); ++r) session.write(r, "hyper", values);
}

std::vector<float> DecoderIo::logits(runtime::Session& session, std::uint32_t data_rank,
                                     std::int64_t micro_batch) const {
  const std::int64_t part = vocabulary_part(), all = part * spec_.tensor_parallel, rows = spec_.batch * spec_.length;
  std::vector<float> out(static_cast<std::size_t>(rows * all));
  for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
    const std::vector<float> some = session.read(rank_of(data_rank, t), micro_name("logits", micro_batch));
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(some.begin() + r * part, part, out.begin() + r * all + t * part);
  }
  return out;
}

std::vector<float> DecoderIo::read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const {
  std::vector<float> out(element_count(tensor.shape));
  const std::string name = (gradient ? "grad." : "") + tensor.name;
  for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
    std::vector<float> on_device = session.read(rank_of(0, t), name);
    // ZeRO sums gradients on their way to the shards: each rank still has its own.
    if (gradient && !zero_.empty())
      for (std::uint32_t d = 1; d < spec_.ranks; ++d) {
        const std::vector<float> more = session.read(rank_of(d, t), name);
        for (std::size_t i = 0; i < more.size(); ++i) on_device[i] += more[i];
      }
    Weights part;
    part.values[tensor.name];
    part.set_from_device(part_of(tensor), on_device);
    put_shard(tensor, out, part.values.at(tensor.name), config_, plan_, t);
  }
  return out;
}

}  // namespace workloads
