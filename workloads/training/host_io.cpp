#include "workloads/training/host_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

void require_computable(const ModelPtr& model, const Step& step) {
  const std::int64_t tensor = step.plan.tensor, tokens = model->sizes().vocabulary;
  if (!model->sizes().splits_vocabulary(tensor)) return;
  if (tokens % tensor != 0)
    throw Error{Fault::kUsage, "`tensor_parallel_size`",
                fmt::format("{} does not divide the vocabulary of {}", tensor, tokens),
                "use `numerics` off, or a degree that divides it"};
}

/// The row of each text's last token.
std::vector<std::int32_t> last_tokens(const Batch& batch) {
  std::vector<std::int32_t> out;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::size_t last = row * batch.length;
    for (std::size_t i = last; i < (row + 1) * batch.length; ++i)
      if (batch.attention_mask[i] > 0) last = i;
    out.push_back(static_cast<std::int32_t>(last));
  }
  return out;
}

/// The factor of each token's embedding: 0 where it hides another or is padding.
std::vector<float> token_factors(const Batch& batch, const TokenFading& fading) {
  std::vector<float> out(batch.input_ids.size());
  for (std::size_t row = 0; row < batch.rows; ++row) {
    double tokens = 0, hidden = 0;
    for (std::size_t i = row * batch.length; i < (row + 1) * batch.length; ++i)
      tokens += batch.attention_mask[i], hidden += batch.input_ids[i] == fading.mask ? 1 : 0;
    const double factor = hidden < tokens ? (1 - fading.usual) / (1 - hidden / tokens) : 0;
    for (std::size_t i = row * batch.length; i < (row + 1) * batch.length; ++i)
      out[i] = batch.input_ids[i] == fading.mask ? 0 : static_cast<float>(factor) * batch.attention_mask[i];
  }
  return out;
}

}  // namespace

std::vector<std::int32_t> predecessors(std::span<const std::int32_t> targets, std::int64_t length,
                                       const TextPairs& pairs) {
  std::vector<std::int32_t> out;
  const auto columns = static_cast<std::size_t>(length);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const bool first = i % columns == 0;
    std::int64_t id = first ? pairs.start : targets[i - 1] < 0 ? pairs.pad : targets[i - 1];
    if (first && pairs.last_first)
      for (const std::int32_t target : targets.subspan(i, columns))
        if (target >= 0) id = target;
    out.push_back(static_cast<std::int32_t>(id));
  }
  return out;
}

HostIo::HostIo(const ModelPtr& model, const Step& step) : model_{model}, step_{step} {
  require_computable(model, step);
}

std::int64_t HostIo::predicted() const {
  const StepKind& kind = step_.kind;
  return model_->pairs() && kind.target_length > 0 ? kind.target_length : kind.length;
}

bool HostIo::splits_vocabulary() const {
  return step_.plan.tensor > 1 && model_->sizes().splits_vocabulary(step_.plan.tensor);
}

std::int64_t HostIo::vocabulary_part() const {
  return model_->sizes().vocabulary / (splits_vocabulary() ? step_.plan.tensor : 1);
}

std::int64_t HostIo::first_of_vocabulary(std::int64_t tensor) const {
  return splits_vocabulary() ? tensor * vocabulary_part() : 0;
}

/// Places of a rank's tokens, where tensor-parallel ranks share those of a sequence.
void HostIo::write_places(runtime::Session& session) const {
  const std::int64_t rows = step_.plan.micro_batch * step_.kind.length / step_.plan.tensor;
  const std::int64_t first = model_->decoder() ? model_->decoder()->embedding.first_position : 0;
  for (std::int64_t t = 0; t < step_.plan.tensor; ++t) {
    std::vector<std::int32_t> places;
    for (std::int64_t i = 0; i < rows; ++i)
      places.push_back(static_cast<std::int32_t>(first + (t * rows + i) % step_.kind.length));
    for (std::uint32_t d = 0; d < step_.plan.data; ++d)
      if (const std::uint32_t rank = step_.plan.rank_of(d, t, 0); session.has(rank, "places"))
        session.write(rank, "places", places);
  }
}

void HostIo::write_slopes(runtime::Session& session, const AttentionArch& attention) const {
  const Plan& plan = step_.plan;
  for (std::int64_t t = 0; t < plan.tensor; ++t)
    for (std::int64_t stage = 0; stage < plan.pipeline; ++stage)
      for (std::uint32_t d = 0; d < plan.data; ++d)
        if (const std::uint32_t rank = plan.rank_of(d, t, stage); session.has(rank, "slopes"))
          session.write(rank, "slopes", slopes_of_rank(attention, plan.tensor, t));
}

void HostIo::write_tables(runtime::Session& session) const {
  std::vector<HostTable> tables = model_->tables(step_.kind);
  if (const DecoderArch* arch = model_->decoder())
    for (HostTable& one : rope_tables(arch->block.rotary, step_.kind.length)) tables.push_back(std::move(one));
  for (const HostTable& one : tables)
    for (std::uint32_t r = 0; r < step_.plan.world(); ++r)
      if (session.has(r, one.name)) session.write(r, one.name, one.values);
  if (const DecoderArch* arch = model_->decoder(); arch && !arch->block.attention.slopes.empty())
    write_slopes(session, arch->block.attention);
  if (places_by_rank(step_.plan)) write_places(session);
}

void HostIo::write_ids(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const TokenNames& names,
                       std::span<const std::int32_t> all, std::int64_t tensor) const {
  const std::int64_t first = first_of_vocabulary(tensor), part = vocabulary_part();
  std::vector<std::int32_t> counted;
  std::vector<float> is_mine;
  for (const std::int32_t id : all) {
    const bool here = id >= first && id < first + part;
    counted.push_back(here ? id - static_cast<std::int32_t>(first) : 0);
    is_mine.push_back(here ? 1.0F : 0.0F);
  }
  session.write(rank, micro_name(names.ids, micro_batch), counted);
  if (const std::string trained = micro_name(fmt::format("{}_trained", names.ids), micro_batch);
      session.has(rank, trained)) {
    std::vector<float> factors;
    for (const std::int32_t id : all) factors.push_back(id == model_->pairs()->pad ? 0.0F : 1.0F);
    session.write(rank, trained, factors);
  }
  if (splits_vocabulary()) session.write(rank, micro_name(names.mine, micro_batch), is_mine);
}

void HostIo::write_tokens(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                          const Batch& batch, std::int64_t tensor) const {
  const std::uint32_t first = step_.plan.rank_of(data_rank, tensor, 0),
                      last = step_.plan.rank_of(data_rank, tensor, step_.plan.last_stage());
  if (!batch.input_ids.empty())
    write_ids(session, first, micro_batch, {"input_ids", "vocabulary"}, batch.input_ids, tensor);
  if (const TextPairs* pairs = model_->pairs())
    write_ids(session, last, micro_batch, {"decoder_input_ids", "decoder_vocabulary"},
              predecessors(batch.labels, predicted(), *pairs), tensor);
  const auto write_if_read = [&](std::uint32_t rank, const char* name, const auto& values) {
    const std::string input = micro_name(name, micro_batch);
    if (session.has(rank, input)) session.write(rank, input, values);
  };
  write_if_read(first, "token_type_ids", batch.token_type_ids);
  write_if_read(first, "attention_mask", batch.attention_mask);
  if (const auto& fading = model_->info().fading) write_if_read(first, "token_factors", token_factors(batch, *fading));
  for (const std::uint32_t rank : {first, last}) write_if_read(rank, "source_mask", batch.attention_mask);
  if (session.has(last, micro_name("last_tokens", micro_batch)))
    session.write(last, micro_name("last_tokens", micro_batch), last_tokens(batch));
}

/// All ranks have a decoder's classes, whose input they share: the gradients add up. Ranks of an encoder, which share
/// no tokens, each have the same gradient.
bool HostIo::adds_up_classes() const { return model_->task() == Task::kClassification && model_->splits(); }

/// Tokens are counted from the first of the rank's part of the vocabulary.
void HostIo::write_labels(runtime::Session& session, std::uint32_t rank, std::int64_t micro_batch, const Batch& batch,
                          std::int64_t tensor) const {
  const bool tokens = model_->task() != Task::kClassification;
  const std::int64_t part = tokens ? vocabulary_part() : 0, begin = tokens ? first_of_vocabulary(tensor) : 0;
  std::vector<std::int32_t> labels;
  for (const std::int32_t label : batch.labels)
    if (tokens)
      labels.push_back(label >= begin && label < begin + part ? label - static_cast<std::int32_t>(begin) : -1);
    else
      labels.push_back(std::max(label, 0));  // one that is ignored weighs nothing
  session.write(rank, micro_name("labels", micro_batch), labels);
  std::vector<float> weights = batch.weights;
  if (adds_up_classes())
    for (float& weight : weights) weight /= static_cast<float>(step_.plan.tensor);
  session.write(rank, micro_name("weights", micro_batch), weights);
}

void HostIo::write_batch(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch,
                         const Batch& batch) const {
  for (std::int64_t t = 0; t < step_.plan.tensor; ++t) {
    if (!batch.patches.empty())
      session.write(step_.plan.rank_of(data_rank, t, 0), micro_name("patches", micro_batch), batch.patches);
    if (!batch.frames.empty())
      session.write(step_.plan.rank_of(data_rank, t, 0), micro_name("frames", micro_batch), batch.frames);
    if (!batch.input_ids.empty() || model_->pairs()) write_tokens(session, data_rank, micro_batch, batch, t);
    if (step_.kind.training || step_.kind.with_loss)
      write_labels(session, step_.plan.rank_of(data_rank, t, step_.plan.last_stage()), micro_batch, batch, t);
  }
}

void HostIo::write_hyper(runtime::Session& session, std::span<const float> values) const {
  for (std::uint32_t r = 0; r < step_.plan.world(); ++r) session.write(r, "hyper", values);
}

double HostIo::loss(runtime::Session& session) const {
  double loss = 0;
  for (std::int64_t m = 0; m < step_.plan.micro_batches; ++m)
    for (std::uint32_t d = 0; d < step_.plan.data; ++d) {
      const std::vector<float> labels =
          session.read(step_.plan.rank_of(d, 0, step_.plan.last_stage()), micro_name("loss", m));
      loss += std::accumulate(labels.begin(), labels.end(), 0.0);
    }
  return adds_up_classes() ? loss * static_cast<double>(step_.plan.tensor) : loss;
}

std::vector<float> HostIo::logits(runtime::Session& session, std::uint32_t data_rank, std::int64_t micro_batch) const {
  if (!splits_vocabulary() || model_->task() == Task::kClassification)
    return session.read(step_.plan.rank_of(data_rank, 0, step_.plan.last_stage()), micro_name("logits", micro_batch));
  const std::int64_t part = vocabulary_part(), all = part * step_.plan.tensor,
                     rows = step_.plan.micro_batch * predicted();
  std::vector<float> out(static_cast<std::size_t>(rows * all));
  for (std::int64_t t = 0; t < step_.plan.tensor; ++t) {
    const std::vector<float> some =
        session.read(step_.plan.rank_of(data_rank, t, step_.plan.last_stage()), micro_name("logits", micro_batch));
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(some.begin() + r * part, part, out.begin() + r * all + t * part);
  }
  return out;
}

}  // namespace workloads
