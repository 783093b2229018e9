// Which files make which tokenizer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/text/tokenizer_json.h"

namespace workloads {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// In order of preference.
constexpr std::array<std::string_view, 7> kNames = {"spiece.model",   "spm.model",       "sentencepiece.bpe.model",
                                                    "tokenizer.json", "tokenizer.model", "vocab.txt",
                                                    "tokenizer.bin"};

fs::path find_source(const fs::path& folder) {
  for (const std::string_view name : kNames)
    if (fs::exists(folder / name)) return folder / name;
  std::vector<fs::path> small;  // llama2.c names small vocabularies by their size: tok512.bin
  for (const auto& entry : fs::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tok") && name.ends_with(".bin")) small.push_back(entry.path());
  }
  if (small.size() == 1) return small[0];
  refuse_tokenizer(folder, fmt::format("holds neither {}{}", fmt::join(kNames, " nor "),
                                       small.empty() ? "" : ", and more than one tok*.bin"));
}

std::string read_if_there(const fs::path& path) { return fs::exists(path) ? base::read_file(path) : std::string{}; }

std::unique_ptr<Tokenizer> read_tokenizer(const fs::path& source) {
  const fs::path config = source.parent_path() / "tokenizer_config.json";
  if (source.extension() == ".model") return load_sentencepiece(source, read_if_there(config));
  if (source.extension() == ".bin") return load_llama2c_tokenizer(source);
  if (source.extension() != ".json") return load_wordpiece(source, nullptr);
  const json file = read_json_file(source);
  const json& model = field(file, "model", source);
  if (model.is_object() && (model.contains("merges") || model.value("type", json()) == "BPE"))
    return load_bpe(source, file, read_if_there(config));
  // Older files leave model.type out; a WordPiece model has this prefix.
  if (model.contains("type") || !model.contains("continuing_subword_prefix"))
    require_type(model, "model", {"WordPiece", "BPE"}, source);
  return load_wordpiece(source, &file);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& path) {
  const fs::path source = fs::is_directory(path) ? find_source(path) : path;
  try {
    return read_tokenizer(source);
  } catch (const json::exception& wrong) {  // the message is behind "[json.exception.type_error.302] "
    const std::string_view what = wrong.what();
    refuse_tokenizer(source, fmt::format("has a value of the wrong type, here or in a file next to it: {}",
                                         what.substr(std::min(what.size(), what.find("] ") + 2))));
  }
}

}  // namespace workloads
