// `trnsim consolidate`: the shards of a parallel training job as one Hugging Face model.
#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/run/checkpoints.h"

namespace cli {
namespace {

struct ConsolidateOptions {
  std::string shards, output;
  bool overwrite = false, merge = false;
};

void consolidate(const ConsolidateOptions& options) {
  const trnsim::Consolidated c = options.merge
                                     ? trnsim::merge_adapters(options.shards, options.output, options.overwrite)
                                     : trnsim::consolidate(options.shards, options.output, options.overwrite);
  print(fmt::format("{}: {}, {}, step {}, from {} (tensor parallel {}, pipeline parallel {})\n", options.output,
                    base::counted(c.tensors, "tensor"), base::counted(c.parameters, "parameter"), c.step,
                    base::counted(c.shards(), "shard"), c.tensor, c.pipeline));
}

}  // namespace

void add_consolidate(CLI::App& app) {
  auto options = std::make_shared<ConsolidateOptions>();
  app.add_option("SHARDS", options->shards, "folder of a sharded checkpoint: shards.json and its files")->required();
  app.add_option("DIR", options->output, "folder for config.json and model.safetensors")->required();
  app.add_flag("--overwrite_output_dir", options->overwrite, "write into a folder that is not empty");
  app.add_flag("--merge", options->merge,
               "add LoRA adapters to their base; for a sharded checkpoint, or a folder with adapter_config.json");
  app.final_callback([options] { consolidate(*options); });
}

}  // namespace cli
