// The vocabulary of llama2.c: int32 longest token, then for each token float score, int32 length, bytes.
// Source: karpathy/llama2.c, tokenizer.py export(), run.c build_tokenizer() and encode().
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/files.h"
#include "workloads/text/tokenizer_json.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kPieceBlank = "\u2581";
constexpr std::size_t kFirstPiece = 259;  // behind <unk>, <s>, </s> and the 256 bytes

struct Piece {
  float score;
  std::string text;
};

std::vector<Piece> read_pieces(const fs::path& path) {
  const std::string file = base::read_file(path);
  std::vector<Piece> pieces;
  std::size_t at = sizeof(std::int32_t);
  while (at < file.size()) {
    std::int32_t length = -1;
    Piece piece{};
    if (file.size() - at >= sizeof piece.score + sizeof length) {
      std::memcpy(&piece.score, file.data() + at, sizeof piece.score);
      std::memcpy(&length, file.data() + at + sizeof piece.score, sizeof length);
      at += sizeof piece.score + sizeof length;
    }
    if (length < 0 || static_cast<std::size_t>(length) > file.size() - at)
      refuse_tokenizer(path,
                       fmt::format("token {} does not fit into the file of {} bytes", pieces.size(), file.size()));
    piece.text = file.substr(at, static_cast<std::size_t>(length));
    if (first_invalid_utf8(piece.text)) refuse_tokenizer(path, fmt::format("token {} is not UTF-8", pieces.size()));
    at += static_cast<std::size_t>(length);
    pieces.push_back(std::move(piece));
  }
  if (pieces.size() < kFirstPiece || pieces[0].text != "<unk>" || pieces[3].text != "<0x00>")
    refuse_tokenizer(path, "does not begin with <unk>, <s>, </s> and the 256 bytes");
  return pieces;
}

/// As SentencePiece has them: blanks visible, no line breaks around <s> and </s>.
void restore(std::vector<Piece>& pieces) {
  pieces[1].text = "<s>";
  pieces[2].text = "</s>";
  for (std::size_t id = kFirstPiece; id < pieces.size(); ++id) {
    std::string& text = pieces[id].text;
    for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + kPieceBlank.size()))
      text.replace(at, 1, kPieceBlank);
  }
}

/// llama2.c merges the two neighbours whose joined text has the best score: the same as a list of all ways to make a
/// piece of two others, the piece of the best score first.
json merges_of(const std::vector<Piece>& pieces) {
  std::unordered_map<std::string_view, std::size_t> ids;
  std::vector<std::size_t> order;
  for (std::size_t id = kFirstPiece; id < pieces.size(); ++id) {
    ids.emplace(pieces[id].text, id);
    order.push_back(id);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t id) { return pieces[id].score; });
  json merges = json::array();
  for (const std::size_t id : order) {
    const std::string_view text = pieces[id].text;
    for (std::size_t cut = 1; cut < text.size(); ++cut)
      if (ids.contains(text.substr(0, cut)) && ids.contains(text.substr(cut)))
        merges.push_back(json::array({text.substr(0, cut), text.substr(cut)}));
  }
  return merges;
}

json special_token(const std::string& text, std::size_t id) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

json tokenizer_json(const std::vector<Piece>& pieces) {
  json vocab = json::object();
  for (std::size_t id = 0; id < pieces.size(); ++id) vocab[pieces[id].text] = id;
  const json blanks = {{"String", " "}}, marks = {{"String", kPieceBlank}};
  const json begin = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json begin2 = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 1}}}};
  const json text2 = {{"Sequence", {{"id", "B"}, {"type_id", 1}}}};
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", json::array({special_token("<unk>", 0), special_token("<s>", 1), special_token("</s>", 2)})},
      {"normalizer",
       {{"type", "Sequence"},
        {"normalizers", json::array({json{{"type", "Prepend"}, {"prepend", kPieceBlank}},
                                     json{{"type", "Replace"}, {"pattern", blanks}, {"content", kPieceBlank}}})}}},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", json::array({begin, text})},
        {"pair", json::array({begin, text, begin2, text2})},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", json::array({1u})}, {"tokens", json::array({"<s>"})}}}}}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         json::array({json{{"type", "Replace"}, {"pattern", marks}, {"content", " "}}, json{{"type", "ByteFallback"}},
                      json{{"type", "Fuse"}}, json{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}})}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", "<unk>"},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"vocab", vocab},
        {"merges", merges_of(pieces)}}}};
}

}  // namespace

std::unique_ptr<Tokenizer> load_llama2c_tokenizer(const fs::path& source) {
  std::vector<Piece> pieces = read_pieces(source);
  restore(pieces);
  const json config = {{"tokenizer_class", "LlamaTokenizer"},
                       {"bos_token", "<s>"},
                       {"eos_token", "</s>"},
                       {"unk_token", "<unk>"},
                       {"add_bos_token", true},
                       {"add_eos_token", false}};
  return load_bpe(source, tokenizer_json(pieces), config.dump(2) + "\n");
}

}  // namespace workloads
