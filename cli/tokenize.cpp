// `trnsim tokenize`: a text as the model will see it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/numbers.h"
#include "base/table.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/run/tokenize.h"

namespace cli {
namespace {

struct TokenizeOptions {
  std::string vocab, format = "table", max_length = "0";
  std::vector<std::string> texts;
};

void show(const trnsim::Tokenizer& tokenizer, const std::string& text, const std::string& where,
          std::int64_t max_length, const std::string& format) {
  const auto [tokens, ids] = trnsim::tokenize(tokenizer, text, max_length, where);
  if (format == "json") {  // one object a line: texts may be many
    const nlohmann::ordered_json line = {{"text", text}, {"tokens", tokens}, {"ids", ids}};
    print(line.dump() + "\n");
    return;
  }
  if (format == "table") {
    print(fmt::format("{}\n{}\n", fmt::join(tokens, " "), fmt::join(ids, " ")));
    return;
  }
  base::Table table{{{"id", "", base::Align::kRight}, {"token", ""}}};
  for (std::size_t i = 0; i < tokens.size(); ++i) table.add_row({ids[i], tokens[i]});
  print(table.render(base::parse_format(format), columns()));
}

void tokenize(const TokenizeOptions& options) {
  base::parse_format(options.format);
  const std::int64_t max_length = base::parse_count("--max_length", options.max_length);
  const auto tokenizer = trnsim::load_tokenizer(options.vocab);
  for (const std::string& text : options.texts) show(*tokenizer, text, "TEXT", max_length, options.format);
  if (!options.texts.empty()) return;
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    show(*tokenizer, line, fmt::format("stdin:{}", number), max_length, options.format);
  }
  if (std::ferror(stdin) != 0)
    throw base::Error{base::Fault::kData, "stdin", "cannot be read to its end", "check the disk"};
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto options = std::make_shared<TokenizeOptions>();
  app.add_option("TEXT", options->texts, "texts; without any, each line of stdin is one");
  app.add_option("--vocab", options->vocab,
                 "vocab.txt, tokenizer.json, tokenizer.model, tok*.bin or the folder of a model")
      ->required();
  app.add_option("--max_length", options->max_length, "cut to this many tokens; 0: never")->capture_default_str();
  app.add_option("--format", options->format,
                 "table: tokens and ids on two lines; json: an object per text; csv, md: a row per token")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { tokenize(*options); });
}

}  // namespace cli
