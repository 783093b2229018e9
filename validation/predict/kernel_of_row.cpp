// Rows of kind "kernel", and matmuls: from a row's words and sizes to a program. What is not understood is said.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "isa/names.h"
#include "runtime/compiler/compile.h"
#include "validation/kernels/micro.h"
#include "validation/predict/micro_row.h"
#include "workloads/models/blocks/block_graph.h"

namespace trnsim {
namespace {

const std::string& shape_text(const MicroJob& job) { return std::get<analysis::MicroRow>(job.row.job).shape; }

MicroPlanned plan_mlp(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"}), k = job.named({"k"});
  if (!m || !n || !k) return std::string{"a SwiGLU MLP needs M, N and K"};
  const double products = 3 * 2.0 * static_cast<double>(*m) * static_cast<double>(*n) * static_cast<double>(*k);
  return MicroPlan{.program = workloads::swiglu_kernel(*m, *n, *k, job.dtype, job.target()), .flops = products};
}

MicroPlanned plan_lora(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"}), k = job.named({"k"}), rank = job.named({"r", "rank"});
  if (!m || !n || !k || !rank) return std::string{"LoRA needs M, K, N and the rank R"};
  const workloads::LoraProduct lora{.m = *m, .k = *k, .n = *n, .rank = *rank, .dtype = job.dtype};
  return MicroPlan{.program = workloads::lora_kernel(lora, job.target()), .flops = workloads::flops(lora)};
}

/// "359 MB read, 90 MB written": what a profile counted.
std::optional<double> written_bytes(const std::string& notes) {
  static const std::regex kWritten{R"(([0-9.]+)\s*MB\s+written)"};
  std::smatch found;
  if (!std::regex_search(notes, found, kWritten)) return std::nullopt;
  return std::stod(found[1]) * 1e6;
}

MicroPlanned plan_adamw(MicroJob& job) {
  if (!job.has_sizes(2)) return std::string{"AdamW needs a shape of rows x columns"};
  const double tensor = static_cast<double>(job.size(0) * job.size(1) * isa::size_of(job.dtype));
  const auto written = written_bytes(job.row.notes);
  const bool stay = !written || *written > 2 * tensor;  // a profile that counts one tensor says that they do not
  job.assumed.push_back(stay ? "moments written back; weight decay" : "moments not written back; weight decay");
  return MicroPlan{.program = workloads::adamw_kernel(job.size(0), job.size(1), job.dtype, job.target(), stay)};
}

MicroPlanned plan_scan(MicroJob& job) {
  workloads::MambaScan scan;
  const auto seq = job.named({"seq", "seqlen", "m", "l"}), channels = job.named({"channels", "c"});
  const auto states = job.named({"state", "states", "s"});
  if (!seq || !channels || !states) return std::string{"a scan needs seq, channels and state"};
  scan.seq = *seq, scan.channels = *channels, scan.states = *states;
  bool told = false;
  for (const int version : {1, 2, 3})
    if (job.says(fmt::format("v{}", version))) scan.version = version, told = true;
  if (!told) scan.version = 3;  // the one that takes sequences of any length
  if (!told) job.assumed.push_back(fmt::format("version {} of the tutorial's kernel", scan.version));
  return MicroPlan{.program = workloads::mamba_scan(scan, job.target())};
}

/// "128x200" in the text, "chunks of 128", "128 elements per tile"; otherwise all partitions and as many columns as
/// that takes.
MicroPlanned plan_vector_add(MicroJob& job) {
  static const std::regex kTile{R"((\d+)\s*x\s*(\d+))"}, kElements{R"((?:of|in)\s+(\d+)|(\d+)\s+elements)"};
  if (!job.has_sizes(1)) return std::string{"a vector add needs its number of elements"};
  const std::int64_t elements = job.size(0);
  std::int64_t parts = isa::kPartitions, cols = 0;
  std::smatch found;
  if (std::regex_search(job.what, found, kTile)) {
    parts = std::stoll(found[1]), cols = std::stoll(found[2]);
  } else {
    const bool told = std::regex_search(job.what, found, kElements);
    const std::int64_t tile = told ? std::stoll(found[1].matched ? found[1] : found[2]) : elements;
    parts = std::min(tile, parts), cols = std::min<std::int64_t>(tile / parts, 8192);
    while (cols > 1 && elements % (parts * cols) != 0) --cols;
    job.assumed.push_back(fmt::format("tiles of {}x{}", parts, cols));
  }
  if (parts < 1 || parts > isa::kPartitions || cols < 1 || elements % (parts * cols) != 0)
    return fmt::format("tiles of {}x{} do not divide {} elements", parts, cols, elements);
  return MicroPlan{.program = workloads::vector_add_kernel(elements, parts, cols, job.dtype, job.target())};
}

MicroPlanned plan_blocks(MicroJob& job) {
  static const std::regex kCount{R"((\d+)\s+(decoder|encoder|transformer)?\s*blocks?)"};
  std::smatch found;
  const auto hidden = job.named({"h", "hidden"}), heads = job.named({"heads"}), seq = job.named({"seq", "s"});
  if (!std::regex_search(job.what, found, kCount) || !hidden || !heads || !seq)
    return std::string{"blocks need their number, h, heads and seq"};
  if (!job.says("forward") || !std::ranges::count(job.shape.words, "GELU"))
    return std::string{"only the forward of blocks with a GELU MLP is modelled here"};
  workloads::BlockSpec spec{.layers = std::stoll(found[1]),
                            .hidden = *hidden,
                            .heads = *heads,
                            .ffn = 4 * *hidden,
                            .batch = job.named({"b", "batch"}).value_or(1),
                            .seq = *seq,
                            .numerics = {}};
  if (const auto ffn = job.named({"ffn"}))
    spec.ffn = *ffn;
  else
    job.assumed.push_back("ffn 4 h");
  const std::string type{isa::name_of(job.dtype)};
  spec.numerics = runtime::numerics(type == "bf16" ? "bf16+fp32-softmax" : type);
  spec.causal = job.says("causal") && !job.says("non-causal");
  job.assumed.push_back(fmt::format("numerics {}, {}", spec.numerics.name, spec.causal ? "causal" : "full attention"));
  runtime::CompileOptions options;
  options.name = "blocks";
  options.cache = job.context.programs.get();
  return MicroPlan{.program = runtime::compile(workloads::block_graph(spec), job.target(), options).program,
                   .flops = workloads::block_flops(spec)};
}

/// "B1 H32 KV8 S4096 D128", in the letters that papers and frameworks use.
std::optional<workloads::HeadsShape> heads_of(const MicroJob& job) {
  const auto heads = job.named({"h", "heads", "qh", "hq", "nh"}), seq = job.named({"s", "n", "seq", "seqlen", "l"});
  const auto size = job.named({"d", "dim", "hd"});
  if (!heads || !seq || !size) return std::nullopt;
  return workloads::HeadsShape{.batch = job.named({"b", "batch"}).value_or(1),
                               .seq = *seq,
                               .heads = *heads,
                               .kv_heads = job.named({"kv", "kh", "kvh", "hkv", "kvheads"}).value_or(*heads),
                               .size = *size,
                               .dtype = job.dtype};
}

MicroPlanned plan_attention(MicroJob& job) {
  const auto shape = heads_of(job);
  if (!shape) return std::string{"attention needs heads H, tokens S and the size of a head D"};
  if (job.says("backward")) return std::string{"attention's backward pass is not modelled alone"};
  if (shape->size > isa::kPartitions) return fmt::format("heads are wider than {}", isa::kPartitions);
  if (shape->kv_heads < 1 || shape->heads % shape->kv_heads != 0)
    return fmt::format("{} heads share {} of keys and values unevenly", shape->heads, shape->kv_heads);
  const bool causal = job.says("causal") && !job.says("non-causal"), flash = job.says("flash");
  job.assumed.push_back(causal ? "causal" : "every query sees every key");
  return MicroPlan{.program = workloads::attention_kernel(*shape, causal, flash, job.target()),
                   .flops = workloads::attention_flops(*shape)};
}

MicroPlanned plan_rope(MicroJob& job) {
  const auto shape = heads_of(job);
  if (!shape || shape->size % 2 != 0) return std::string{"rotary positions need H, S and an even D"};
  job.assumed.push_back("heads side by side in a token's row");
  return MicroPlan{.program = workloads::rope_kernel(*shape, job.target())};
}

MicroPlanned plan_transpose(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"});
  if (!job.has_sizes(2) && !(m && n)) return std::string{"a transpose needs rows x columns"};
  job.assumed.push_back("by TensorE");
  const std::int64_t rows = m && n ? *m : job.size(0), cols = m && n ? *n : job.size(1);
  return MicroPlan{.program = workloads::transpose_kernel(rows, cols, job.dtype, job.target())};
}

// ---- chains

struct Word {
  std::string_view word, step;
};
/// A transpose is no step: the left operand of a compiled matmul is turned on its way anyway.
constexpr std::array kWords = {
    Word{"matmul", "matmul"}, Word{"gemm", "matmul"},         Word{"mm", "matmul"},       Word{"bmm", "matmul"},
    Word{"linear", "matmul"}, Word{"rmsnorm", "rmsnorm"},     Word{"add", "add"},         Word{"residual", "add"},
    Word{"bias", "bias"},     Word{"layernorm", "layernorm"}, Word{"softmax", "softmax"}, Word{"mul", "multiply"},
    Word{"silu", "silu"},     Word{"swish", "silu"},          Word{"gelu", "gelu"},       Word{"multiply", "multiply"},
    Word{"tanh", "tanh"},     Word{"gelutanh", "gelu_tanh"},  Word{"transpose", ""}};
/// Words that say nothing of what is computed.
constexpr std::array<std::string_view, 31> kFillers = {
    "a",       "an",          "and",     "batch", "batched",  "by",    "compiled",  "dense",
    "element", "elementwise", "forward", "from",  "function", "fused", "framework", "hbm",
    "in",      "kernel",      "naive",   "nki",   "of",       "on",    "one",       "optimized",
    "over",    "row",         "rows",    "the",   "then",     "to",    "with"};

/// The words of a text, with names of several words as one: "batched_rms-norm" is batched, rmsnorm.
std::vector<std::string> words_of(std::string text) {
  static const std::array<std::pair<std::regex, const char*>, 6> kNames = {
      {{std::regex{R"(rms[\s_-]*norm(alization)?)"}, "rmsnorm"},
       {std::regex{R"(layer[\s_-]*norm(alization)?)"}, "layernorm"},
       {std::regex{R"(mat(rix)?[\s_-]*mul(tiply|tiplication)?)"}, "matmul "},
       {std::regex{R"(batchmatmul|batch_matmul)"}, "matmul "},
       {std::regex{R"(gelu[\s_-]*tanh)"}, "gelutanh"},
       {std::regex{R"(residual[\s_-]*add|add[\s_-]*residual)"}, "add"}}};
  for (const auto& [name, plain] : kNames) text = std::regex_replace(text, name, plain);
  static const std::regex kWord{R"([a-z]+\d*|\d[\dx.]*)"};
  std::vector<std::string> words;
  for (std::sregex_iterator word{text.begin(), text.end(), kWord}, end; word != end; ++word)
    words.push_back(word->str());
  return words;
}

/// The steps of "matmul + add + RMSNorm"; or the word that is none.
std::variant<std::vector<std::string>, std::string> steps_of(const std::string& what) {
  std::vector<std::string> steps;
  for (const std::string& text : words_of(what)) {
    if (std::isdigit(static_cast<unsigned char>(text.front())) || std::ranges::count(kFillers, text) > 0) continue;
    const auto word = std::ranges::find(kWords, text, &Word::word);
    if (word == kWords.end()) return fmt::format("kernel '{}' is not modelled: '{}' is no known step", what, text);
    if (!word->step.empty()) steps.emplace_back(word->step);
  }
  if (steps.empty() && what.find("transpose") == std::string::npos)
    return fmt::format("kernel '{}' names no step", what);
  return steps;
}

/// Sizes of a chain: M, K, N in any notation, or rows and columns where nothing is multiplied.
bool read_sizes(const MicroJob& job, bool multiplies, workloads::Chain& chain) {
  const auto m = job.named({"m"}), k = job.named({"k"}), n = job.named({"n"});
  chain.batch = job.named({"b", "batch"}).value_or(1);
  if (multiplies && m && k && n) {
    chain.rows = *m, chain.cols = *k, chain.n = *n;
  } else if (multiplies && job.has_sizes(3)) {
    chain.rows = job.size(0), chain.cols = job.size(1), chain.n = job.size(2);
  } else if (multiplies && job.has_sizes(4)) {
    chain.batch = job.size(0), chain.rows = job.size(1), chain.cols = job.size(2), chain.n = job.size(3);
  } else if (!multiplies && m && (n || k)) {
    chain.rows = *m, chain.cols = n ? *n : *k;
  } else if (!multiplies && job.has_sizes(2)) {
    chain.rows = job.size(0), chain.cols = job.size(1);
  } else {
    return false;
  }
  return chain.rows > 0 && chain.cols > 0 && chain.batch > 0 && (!multiplies || chain.n > 0);
}

MicroPlanned plan_chain(MicroJob& job) {
  auto steps = steps_of(job.what);
  if (const auto* why = std::get_if<std::string>(&steps)) return *why;
  workloads::Chain chain{.steps = std::get<std::vector<std::string>>(std::move(steps)), .dtype = job.dtype};
  if (chain.steps.empty()) return plan_transpose(job);
  const bool multiplies = std::ranges::count(chain.steps, "matmul") > 0;
  if (!read_sizes(job, multiplies, chain))
    return fmt::format("shape '{}' is neither {}", shape_text(job),
                       multiplies ? "1x2x3 nor M1 K2 N3" : "rows x columns nor M1 N2");
  if (multiplies && isa::is_integer(job.dtype)) return std::string{"TensorE multiplies no integers"};
  if (multiplies) job.assumed.push_back("compiled, operands as they lie");
  return MicroPlan{.program = workloads::chain_kernel(chain, job.target()), .flops = workloads::flops(chain)};
}

struct Kernel {
  std::string_view word;
  MicroPlanned (*plan)(MicroJob&);
};
/// What is more than a chain of steps; the first word that the text has decides.
constexpr std::array kKernels = {
    Kernel{"adamw", plan_adamw},         Kernel{"swiglu", plan_mlp},    Kernel{"lora", plan_lora},
    Kernel{"mamba", plan_scan},          Kernel{"scan", plan_scan},     Kernel{"vector add", plan_vector_add},
    Kernel{"blocks", plan_blocks},       Kernel{"rope", plan_rope},     Kernel{"rotary", plan_rope},
    Kernel{"attention", plan_attention}, Kernel{"gqa", plan_attention}, Kernel{"mha", plan_attention}};

}  // namespace

MicroPlanned plan_gemm(MicroJob& job) {
  workloads::Chain sizes;
  const bool tuned = job.says("nki") && read_sizes(job, true, sizes) && sizes.batch == 1;
  if (!tuned || isa::is_integer(job.dtype)) {
    const auto steps = steps_of(job.what);
    const auto* known = std::get_if<std::vector<std::string>>(&steps);
    if (!known || std::ranges::count(*known, "matmul") == 0) job.what = "matmul";  // the kind says what it is
    return plan_chain(job);
  }
  const workloads::Gemm gemm{.m = sizes.rows, .k = sizes.cols, .n = sizes.n, .dtype = job.dtype};
  job.assumed.push_back("NKI kernel, left operand given as its transpose");
  return MicroPlan{.program = workloads::tuned_gemm(gemm, job.target()), .flops = workloads::flops(gemm)};
}

MicroPlanned plan_kernel(MicroJob& job) {
  for (const Kernel& kernel : kKernels)
    if (job.says(kernel.word)) return kernel.plan(job);
  return plan_chain(job);
}

}  // namespace trnsim
