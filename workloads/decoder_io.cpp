#include "workloads/decoder_io.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/pipeline.h"
#include "workloads/zero_io.h"

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
}

}  // namespace

DecoderIo::DecoderIo(const ModelConfig& config, const StepSpec& spec, std::vector<ZeroBucket> zero)
    : DecoderIo{config, spec, std::vector<std::vector<ZeroBucket>>{std::move(zero)}} {}

DecoderIo::DecoderIo(const ModelConfig& config, const StepSpec& spec,
                     std::vector<std::vector<ZeroBucket>> zero_of_stage)
    : config_{config},
      spec_{spec},
      zero_{std::move(zero_of_stage)},
      plan_{shard_plan(spec)},
      whole_{model_weights(config)} {
  base::ensure(zero_.size() == static_cast<std::size_t>(spec.pipeline_parallel), "decoder", "a stage has no buckets");
  for (std::int64_t stage = 0; stage < spec.pipeline_parallel; ++stage)
    parts_.push_back(decoder_weights(config, of_stage(spec, stage)));
  require_computable(config, spec.tensor_parallel);
}

template <class Body>
void DecoderIo::for_holders(const WeightSpec& whole, const Body& body) const {
  for (std::int64_t stage = 0; stage < spec_.pipeline_parallel; ++stage)
    for (std::int64_t t = 0; t < spec_.tensor_parallel && is_on_stage(whole, config_, plan_, stage); ++t)
      body(stage, t);
}

const WeightSpec& DecoderIo::part_of(const WeightSpec& whole, std::int64_t stage) const {
  const auto& parts = parts_[static_cast<std::size_t>(stage)];
  const auto found = std::ranges::find(parts, whole.name, &WeightSpec::name);
  base::ensure(found != parts.end(), whole.name, "no rank holds it");
  return *found;
}

std::int64_t DecoderIo::vocabulary_part() const {
  return std::get<LlamaConfig>(config_).vocab_size / spec_.tensor_parallel;
}

std::vector<float> DecoderIo::device_part(const WeightSpec& whole, std::span<const float> values, std::int64_t tensor,
                                          std::int64_t stage) const {
  Weights part;
  part.values[whole.name] = shard_of(whole, values, config_, plan_, tensor);
  return part.for_device(part_of(whole, stage));
}

void DecoderIo::write_weights(runtime::Session& session, const Weights& weights) const {
  for (const WeightSpec& w : whole_)
    for_holders(w, [&](std::int64_t stage, std::int64_t t) {
      const std::vector<float> part = device_part(w, weights.values.at(w.name), t, stage);
      for (std::uint32_t d = 0; d < spec_.ranks; ++d) {
        const std::uint32_t rank = spec_.rank_of(d, t, stage);
        session.write(rank, w.name, part);
        if (session.has(rank, "master." + w.name)) session.write(rank, "master." + w.name, part);
      }
    });
  for (std::int64_t stage = 0; stage < spec_.pipeline_parallel; ++stage)
    for (const ZeroBucket& bucket : zero_[static_cast<std::size_t>(stage)])
      for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t)
        write_bucket(session, spec_, bucket, {bucket.name, t, stage}, [&](const std::string& name) {
          return device_part(*std::ranges::find(whole_, name, &WeightSpec::name), weights.values.at(name), t, stage);
        });
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
    const auto begin = static_cast<std::int32_t>(t * part);
    const auto is_mine = [&](std::int32_t id) { return id >= begin && id < begin + part; };
    for (const std::int32_t id : batch.ids) {
      ids.push_back(is_mine(id) ? id - begin : 0);
      mine.push_back(is_mine(id) ? 1.0F : 0.0F);
    }
    for (const std::int32_t id : batch.targets) labels.push_back(is_mine(id) ? id - begin : -1);
    const std::uint32_t first = spec_.rank_of(data_rank, t, 0), last = spec_.rank_of(data_rank, t, spec_.last_stage());
    session.write(first, micro_name("input_ids", micro_batch), ids);
    if (spec_.tensor_parallel > 1) session.write(first, micro_name("vocabulary", micro_batch), mine);
    if (!spec_.training && !spec_.with_loss) continue;
    session.write(last, micro_name("labels", micro_batch), labels);
    session.write(last, micro_name("weights", micro_batch), batch.weights);
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
    const std::vector<float> some =
        session.read(spec_.rank_of(data_rank, t, spec_.last_stage()), micro_name("logits", micro_batch));
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(some.begin() + r * part, part, out.begin() + r * all + t * part);
  }
  return out;
}

std::vector<float> DecoderIo::read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const {
  std::vector<float> out(element_count(tensor.shape));
  const std::string name = (gradient ? "grad." : "") + tensor.name;
  for_holders(tensor, [&](std::int64_t stage, std::int64_t t) {
    std::vector<float> on_device = session.read(spec_.rank_of(0, t, stage), name);
    // ZeRO sums gradients on their way to the shards: each rank still has its own.
    if (gradient && !zero_[static_cast<std::size_t>(stage)].empty())
      for (std::uint32_t d = 1; d < spec_.ranks; ++d) {
        const std::vector<float> more = session.read(spec_.rank_of(d, t, stage), name);
        for (std::size_t i = 0; i < more.size(); ++i) on_device[i] += more[i];
      }
    Weights part;
    part.values[tensor.name];
    part.set_from_device(part_of(tensor, stage), on_device);
    put_shard(tensor, out, part.values.at(tensor.name), config_, plan_, t);
  });
  return out;
}

}  // namespace workloads
