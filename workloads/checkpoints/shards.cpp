// The files of a sharded checkpoint.
#include "workloads/checkpoints/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/model_folder.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kShardIndex = "shards.json";
constexpr int kVersion = 2;
constexpr std::array kTokenizerFiles = {"tokenizer.json",
                                        "tokenizer.model",
                                        "spiece.model",
                                        "spm.model",
                                        "sentencepiece.bpe.model",
                                        "tokenizer_config.json",
                                        "special_tokens_map.json",
                                        "vocab.txt",
                                        "generation_config.json"};

/// As the index names them: config.json says of which task a model was saved, not for which one it is trained.
constexpr std::array<std::pair<Head, std::string_view>, 5> kHeads = {{{Head::kClassifier, "classifier"},
                                                                      {Head::kTokens, "tokens"},
                                                                      {Head::kNone, "none"},
                                                                      {Head::kPretraining, "pretraining"},
                                                                      {Head::kMaskedTokens, "masked_tokens"}}};
std::string_view name_of(Head head) {
  return std::ranges::find(kHeads, head, &decltype(kHeads)::value_type::first)->second;
}

std::string file_name(std::string_view state, ShardRank rank) {
  return fmt::format("{}_tp{:02}_pp{:02}.safetensors", state, rank.tensor, rank.pipeline);
}

constexpr const char* kStep = "step";

/// The metadata of a shard.
std::map<std::string, std::string> metadata_of(const ShardId& id) {
  return {{"state", id.state},
          {"tensor_parallel", fmt::format("{} of {}", id.rank.tensor, id.plan.tensor_parallel_size)},
          {"pipeline_parallel", fmt::format("{} of {}", id.rank.pipeline, id.plan.pipeline_parallel_size)},
          {"virtual_pipeline_size", fmt::format("{}", id.plan.virtual_pipeline_size)},
          {kStep, fmt::format("{}", id.step)}};
}

/// The shards of one state, opened and found to be of this plan.
class ShardSet {
 public:
  ShardSet(const fs::path& folder, std::string_view state)
      : index_{read_shard_index(folder)},
        model_{read_shard_config(folder)},
        specs_{of_state(model_->weights(), state)} {
    if (std::ranges::find(index_.states, state) == index_.states.end())
      throw Error{Fault::kData, (folder / kShardIndex).string(), fmt::format("lists no state \"{}\"", state),
                  "use a checkpoint that was saved with it"};
    check(index_.plan, model_);
    for_each_rank(index_.plan, [&](ShardRank rank) { open(folder, state, rank); });
  }

  const ModelPtr& model() const { return model_; }
  const std::vector<WeightSpec>& specs() const { return specs_; }

  ElementType type_of(const WeightSpec& spec) const {
    const Shard& shard =
        **std::ranges::find_if(shards_, [&](const auto& one) { return one->tensors.contains(spec.name); });
    return shard.tensors.at(spec.name).type;
  }

  std::vector<float> whole(const WeightSpec& spec) const {
    std::vector<float> values(element_count(spec.shape));
    std::map<std::int64_t, const Shard*> seen;  // by offset
    for (const auto& shard : shards_) {
      const auto at = shard->tensors.find(spec.name);
      if (at == shard->tensors.end()) continue;  // on another stage
      const std::vector<float> part = to_floats(at->second.type, shard->file.bytes(at->second));
      const std::int64_t rank = shard->rank.tensor;
      const auto [first, fresh] = seen.emplace(shard_offset(spec, model_, index_.plan, rank), shard.get());
      if (fresh)
        put_shard(spec, values, part, model_, index_.plan, rank);
      else if (shard_of(spec, values, model_, index_.plan, rank) != part)
        throw Error{Fault::kData, shard->file.path().string(),
                    fmt::format("tensor \"{}\" differs from that in {}", spec.name,
                                first->second->file.path().filename().string()),
                    "use the shards of one save"};
    }
    return values;
  }

 private:
  struct Shard {
    SafetensorsFile file;
    ShardRank rank;
    std::map<std::string, TensorInfo> tensors{};
  };

  void open(const fs::path& folder, std::string_view state, ShardRank rank) {
    const fs::path path = folder / file_name(state, rank);
    if (!fs::exists(path))
      throw Error{Fault::kData, path.string(), "is missing", "copy every shard of the checkpoint, or save it again"};
    auto shard = std::make_unique<Shard>(Shard{SafetensorsFile{path}, rank});
    for (const auto& [key, value] : metadata_of({index_.plan, rank, std::string{state}, index_.step})) {
      const auto at = shard->file.metadata().find(key);
      const std::string found = at == shard->file.metadata().end() ? "not given" : at->second;
      if (found != value)
        throw Error{Fault::kData, path.string(),
                    fmt::format("belongs to another {}: its {} is {}, but that of {} is {}",
                                key == kStep ? kStep : "plan", key, found, kShardIndex, value),
                    "use the shards of one save"};
    }
    for (const TensorInfo& tensor : shard->file.tensors()) shard->tensors[tensor.name] = tensor;
    check_tensors(*shard, state);
    if (shard->file.metadata().contains(std::string{kChecksum})) shard->file.require_whole();
    shards_.push_back(std::move(shard));
  }

  void check_tensors(const Shard& shard, std::string_view state) const {
    const std::string path = shard.file.path().string();
    const std::vector<WeightSpec> wanted = of_state(shard_specs(model_, index_.plan, shard.rank), state);
    for (const WeightSpec& spec : wanted) {
      const auto at = shard.tensors.find(spec.name);
      const bool there = at != shard.tensors.end();
      if (there && at->second.shape == spec.shape && is_floating(at->second.type)) continue;
      throw Error{Fault::kData, path,
                  there ? fmt::format("tensor \"{}\" is {} {}, but must be {} of floats", spec.name,
                                      name_of(at->second.type), to_string(at->second.shape), to_string(spec.shape))
                        : fmt::format("has no tensor \"{}\" of shape {}", spec.name, to_string(spec.shape)),
                  "use the config.json that was saved with these shards"};
    }
    if (shard.tensors.size() != wanted.size())
      throw Error{
          Fault::kData, path,
          fmt::format("has {}, but the plan gives it {}", base::counted(shard.tensors.size(), "tensor"), wanted.size()),
          "use the config.json that was saved with these shards"};
  }

  ShardIndex index_;
  ModelPtr model_;
  std::vector<WeightSpec> specs_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace

void write_shard(const fs::path& folder, const ModelPtr& model, const ShardId& id, const Weights& part,
                 ElementType type) {
  std::vector<NewTensor> tensors;
  for (const WeightSpec& spec : of_state(shard_specs(model, id.plan, id.rank), id.state)) {
    const auto at = part.values.find(spec.name);
    base::ensure(at != part.values.end(), spec.name, "is not in the shard");
    base::ensure(at->second.size() == element_count(spec.shape), spec.name,
                 "does not have the size of the shard's part");
    tensors.push_back(
        {spec.name, type, spec.shape, [&values = at->second, type] { return from_floats(type, values); }});
  }
  write_safetensors(folder / file_name(id.state, id.rank), std::move(tensors), metadata_of(id));
}

void write_shard_index(const fs::path& folder, const ModelPtr& model, const ShardIndex& index) {
  for (const std::string& state : index.states)
    for_each_rank(index.plan, [&](ShardRank rank) {
      base::ensure(fs::exists(folder / file_name(state, rank)), file_name(state, rank), "was not written");
    });
  write_config(model, folder);
  json file = {{"format", "trnsim shards"},
               {"version", kVersion},
               {"tensor_parallel_size", index.plan.tensor_parallel_size},
               {"pipeline_parallel_size", index.plan.pipeline_parallel_size},
               {"virtual_pipeline_size", index.plan.virtual_pipeline_size},
               {"head", name_of(model->head())},
               {"states", index.states},
               {"step", index.step},
               {"run", index.run}};
  file[std::string{kChecksum}] = base::hash_text(base::hash64(file.dump()));
  base::write_file(folder / kShardIndex, file.dump(2) + "\n");
}

ShardIndex read_shard_index(const fs::path& folder) {
  const fs::path path = folder / kShardIndex;
  if (!fs::exists(path))
    throw Error{Fault::kData, path.string(), "is missing: not a sharded checkpoint, or one that was not finished",
                "give the folder of a finished checkpoint"};
  json file = read_json_file(path);
  const auto refuse = [&](std::string_view what) -> Error {
    return {Fault::kData, path.string(), what, "use an index that trnsim wrote"};
  };
  if (!file.is_object() || file.value("format", json()) != "trnsim shards") throw refuse("is not an index of shards");
  if (file.value("version", json()) != kVersion)
    throw refuse(fmt::format("is of version {}, not {}", file.value("version", json()).dump(), kVersion));
  const auto number = [&](const char* key) {
    if (!file.contains(key) || !file.at(key).is_number_unsigned())
      throw refuse(fmt::format("\"{}\" is missing or not a whole number", key));
    return file.at(key).get<std::int64_t>();
  };
  if (const json checksum = file.value(std::string{kChecksum}, json()); checksum.is_string()) {
    file.erase(std::string{kChecksum});
    if (base::hash_text(base::hash64(file.dump())) != checksum) throw refuse("is damaged: its checksum does not match");
  }
  ShardIndex index;
  index.plan = {number("tensor_parallel_size"), number("pipeline_parallel_size"), number("virtual_pipeline_size")};
  index.step = number("step");
  const json states = file.value("states", json());
  if (!states.is_array() || !std::ranges::all_of(states, [](const json& state) { return state.is_string(); }))
    throw refuse("\"states\" is not a list of names");
  index.states = states.get<std::vector<std::string>>();
  const json run = file.value("run", json::object());
  if (!run.is_object() || !std::ranges::all_of(run, [](const json& value) { return value.is_string(); }))
    throw refuse("\"run\" is not a list of texts");
  index.run = run.get<std::map<std::string, std::string>>();
  return index;
}

ModelPtr read_shard_config(const fs::path& folder) {
  const ModelPtr config = read_config(folder);
  const json index = read_json_file(folder / kShardIndex);
  for (const auto& [head, name] : kHeads)
    if (index.value("head", json()) == name) return config->head() == head ? config : config->with_head(head);
  const bool pretraining = index.value("bert_pretraining_head", json()) == true;  // as trnsim wrote until 0.2.0
  return pretraining ? config->with_head(Head::kPretraining) : config;
}

Weights read_shards(const fs::path& folder, std::string_view state) {
  const ShardSet set{folder, state};
  Weights weights;
  for (const WeightSpec& spec : set.specs()) weights.values[spec.name] = set.whole(spec);
  return weights;
}

void copy_tokenizer(const fs::path& folder, const fs::path& out) {
  for (const char* name : kTokenizerFiles)
    if (fs::exists(folder / name)) base::write_file(out / name, base::read_file(folder / name));
}

void consolidate(const fs::path& folder, const fs::path& out, bool overwrite) {
  const ShardSet set{folder, "model"};
  if (set.model()->lora()) {
    return write_model_folder(out, overwrite, [&](const fs::path& to) {
      save_adapter(to, set.model(), read_shards(folder), set.type_of(set.specs().front()));
      copy_tokenizer(folder, to);
    });
  }
  std::vector<NewTensor> tensors;
  for (const StoredTensor& one : stored_tensors(set.specs(), [&](const WeightSpec& spec) { return set.type_of(spec); }))
    tensors.push_back({one.name, one.type, one.shape, [&set, one] {
                         return from_floats(
                             one.type, stored_values(one, [&](const WeightSpec& spec) { return set.whole(spec); }));
                       }});
  write_model_folder(out, overwrite, [&](const fs::path& to) {
    write_safetensors(to / "model.safetensors", std::move(tensors));
    write_config(set.model(), to);
    copy_tokenizer(folder, to);
  });
}

}  // namespace workloads
