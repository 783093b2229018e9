// Rows of kind "kernel", and matmuls: from a row's columns `kernel` and `shape` to a program. Unknown words
// are reported.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/names.h"
#include "runtime/compiler/compile.h"
#include "validation/kernels/block_graph.h"
#include "validation/kernels/micro.h"
#include "validation/predict/micro_row.h"

namespace validation {
namespace {

const std::string& shape_text(const MicroJob& job) { return std::get<MicroRow>(job.row.job).shape; }

MicroPlanned plan_mlp(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"}), k = job.named({"k"});
  if (!m || !n || !k) return std::string{"a SwiGLU MLP needs M, N and K"};
  const double products = 3 * 2.0 * static_cast<double>(*m) * static_cast<double>(*n) * static_cast<double>(*k);
  return MicroPlan{.program = swiglu_kernel(*m, *n, *k, job.dtype, job.target()), .flops = products};
}

MicroPlanned plan_lora(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"}), k = job.named({"k"}), rank = job.named({"r", "rank"});
  if (!m || !n || !k || !rank) return std::string{"LoRA needs M, K, N and the rank R"};
  const LoraProduct lora{.m = *m, .k = *k, .n = *n, .rank = *rank, .dtype = job.dtype};
  return MicroPlan{.program = lora_kernel(lora, job.target()), .flops = flops(lora)};
}

MicroPlanned plan_adamw(MicroJob& job) {
  if (!job.has_sizes(2)) return std::string{"AdamW needs a shape of rows x columns"};
  const bool stay = job.kernel.text("moments") != "dropped";
  job.assumed.push_back(stay ? "moments written back; weight decay" : "moments not written back; weight decay");
  return MicroPlan{.program = adamw_kernel(job.size(0), job.size(1), job.dtype, job.target(), stay)};
}

MicroPlanned plan_scan(MicroJob& job) {
  MambaScan scan;
  const auto seq = job.named({"seq", "seqlen", "m", "l"}), channels = job.named({"channels", "c"});
  const auto states = job.named({"state", "states", "s"});
  if (!seq || !channels || !states) return std::string{"a scan needs seq, channels and state"};
  scan.seq = *seq, scan.channels = *channels, scan.states = *states;
  scan.version = static_cast<int>(job.kernel.number("version").value_or(3));  // 3 takes sequences of any length
  if (!job.kernel.has("version"))
    job.assumed.push_back(fmt::format("version {} of the tutorial's kernel", scan.version));
  return MicroPlan{.program = mamba_scan(scan, job.target())};
}

/// Tiles of `tile` PARTITIONSxCOLUMNS, or of `elements`; otherwise all partitions and as many columns as that takes.
MicroPlanned plan_vector_add(MicroJob& job) {
  if (!job.has_sizes(1)) return std::string{"a vector add needs its number of elements"};
  const std::int64_t elements = job.size(0);
  std::int64_t parts = isa::kPartitions, cols = 0;
  if (const Shape told = parse_shape(job.kernel.text("tile")); told.sizes.size() == 2) {
    parts = static_cast<std::int64_t>(told.sizes[0]), cols = static_cast<std::int64_t>(told.sizes[1]);
  } else {
    const std::int64_t tile = job.kernel.number("elements").value_or(elements);
    parts = std::min(tile, parts), cols = parts > 0 ? std::min<std::int64_t>(tile / parts, 8192) : 0;
    while (cols > 1 && elements % (parts * cols) != 0) --cols;
    job.assumed.push_back(fmt::format("tiles of {}x{}", parts, cols));
  }
  if (parts < 1 || parts > isa::kPartitions || cols < 1 || elements % (parts * cols) != 0)
    return fmt::format("tiles of {}x{} do not divide {} elements", parts, cols, elements);
  return MicroPlan{.program = vector_add_kernel(elements, parts, cols, job.dtype, job.target())};
}

MicroPlanned plan_blocks(MicroJob& job) {
  const auto layers = job.kernel.number("layers"), hidden = job.named({"h", "hidden"}), heads = job.named({"heads"}),
             seq = job.named({"seq", "s"});
  if (!layers || !hidden || !heads || !seq) return std::string{"blocks need their number, h, heads and seq"};
  BlockSpec spec{.layers = *layers,
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
  spec.causal = job.kernel.has("causal");
  job.assumed.push_back(fmt::format("numerics {}, {}", spec.numerics.name, spec.causal ? "causal" : "full attention"));
  runtime::CompileOptions options;
  options.name = "blocks";
  options.cache = job.context.programs.get();
  return MicroPlan{.program = runtime::compile(block_graph(spec), job.target(), options).program,
                   .flops = block_flops(spec)};
}

/// "B1 H32 KV8 S4096 D128", in the letters that papers and frameworks use.
std::optional<HeadsShape> heads_of(const MicroJob& job) {
  const auto heads = job.named({"h", "heads", "qh", "hq", "nh"}), seq = job.named({"s", "n", "seq", "seqlen", "l"});
  const auto size = job.named({"d", "dim", "hd"});
  if (!heads || !seq || !size) return std::nullopt;
  return HeadsShape{.batch = job.named({"b", "batch"}).value_or(1),
                    .seq = *seq,
                    .heads = *heads,
                    .kv_heads = job.named({"kv", "kh", "kvh", "hkv", "kvheads"}).value_or(*heads),
                    .size = *size,
                    .dtype = job.dtype};
}

MicroPlanned plan_attention(MicroJob& job) {
  const auto shape = heads_of(job);
  if (!shape) return std::string{"attention needs heads H, tokens S and the size of a head D"};
  if (job.kernel.has("backward")) return std::string{"attention's backward pass is not modelled alone"};
  if (shape->size > isa::kPartitions) return fmt::format("heads are wider than {}", isa::kPartitions);
  if (shape->kv_heads < 1 || shape->heads % shape->kv_heads != 0)
    return fmt::format("{} heads share {} key-value heads unevenly", shape->heads, shape->kv_heads);
  const bool causal = job.kernel.has("causal"), flash = job.kernel.has("flash");
  job.assumed.push_back(causal ? "causal" : "every query sees every key");
  return MicroPlan{.program = attention_kernel(*shape, causal, flash, job.target()), .flops = attention_flops(*shape)};
}

MicroPlanned plan_rope(MicroJob& job) {
  const auto shape = heads_of(job);
  if (!shape || shape->size % 2 != 0) return std::string{"rotary positions need H, S and an even D"};
  job.assumed.push_back("heads side by side in a token's row");
  return MicroPlan{.program = rope_kernel(*shape, job.target())};
}

MicroPlanned plan_transpose(MicroJob& job) {
  const auto m = job.named({"m"}), n = job.named({"n"});
  if (!job.has_sizes(2) && !(m && n)) return std::string{"a transpose needs rows x columns"};
  job.assumed.push_back("by TensorE");
  const std::int64_t rows = m && n ? *m : job.size(0), cols = m && n ? *n : job.size(1);
  return MicroPlan{.program = transpose_kernel(rows, cols, job.dtype, job.target())};
}

// ---- chains

/// The steps of "matmul+add+rmsnorm"; or the word that is not a step.
std::variant<std::vector<std::string>, std::string> steps_of(const MicroJob& job) {
  const std::vector<std::string> known = chain_steps();
  std::vector<std::string> steps = base::split(job.kernel.name, '+');
  for (const std::string& step : steps)
    if (std::ranges::find(known, step) == known.end())
      return job.unknown(fmt::format("'{}' is not a known step", step));
  if (!job.kernel.settings.empty())
    return job.unknown(fmt::format("'{}' is not a known setting", job.kernel.settings.begin()->first));
  return steps;
}

/// Sizes of a chain: M, K, N in any notation, or rows and columns where nothing is multiplied.
bool read_sizes(const MicroJob& job, bool multiplies, Chain& chain) {
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
  auto steps = steps_of(job);
  if (const auto* why = std::get_if<std::string>(&steps)) return *why;
  Chain chain{.steps = std::get<std::vector<std::string>>(std::move(steps)), .dtype = job.dtype};
  const bool multiplies = std::ranges::count(chain.steps, "matmul") > 0;
  if (!read_sizes(job, multiplies, chain))
    return fmt::format("shape '{}' is neither {}", shape_text(job),
                       multiplies ? "1x2x3 nor M1 K2 N3" : "rows x columns nor M1 N2");
  if (multiplies && isa::is_integer(job.dtype)) return std::string{"TensorE does not multiply integers"};
  if (multiplies) job.assumed.push_back("compiled, operands as they are in memory");
  return MicroPlan{.program = chain_kernel(chain, job.target()), .flops = flops(chain)};
}

struct Kernel {
  std::string_view name;
  MicroPlanned (*plan)(MicroJob&);
  std::string_view settings{};  // that it takes
};
/// Kernels that are not a chain of steps.
constexpr std::array kKernels = {Kernel{"adamw", plan_adamw, "moments"},
                                 Kernel{"swiglu", plan_mlp},
                                 Kernel{"lora", plan_lora},
                                 Kernel{"mamba", plan_scan, "version"},
                                 Kernel{"vector-add", plan_vector_add, "tile elements"},
                                 Kernel{"blocks", plan_blocks, "layers causal"},
                                 Kernel{"rope", plan_rope},
                                 Kernel{"attention", plan_attention, "causal flash backward"},
                                 Kernel{"transpose", plan_transpose}};

}  // namespace

MicroPlanned plan_gemm(MicroJob& job) {
  const bool nki = job.kernel.name == "nki";
  Chain sizes;
  if (nki && !isa::is_integer(job.dtype) && read_sizes(job, true, sizes) && sizes.batch == 1) {
    const Gemm gemm{.m = sizes.rows, .k = sizes.cols, .n = sizes.n, .dtype = job.dtype};
    job.assumed.push_back("NKI kernel, left operand given as its transpose");
    return MicroPlan{.program = tuned_gemm(gemm, job.target()), .flops = flops(gemm)};
  }
  if (nki || job.kernel.name.empty()) job.kernel = {.name = "matmul"};  // implied by the kind
  return plan_chain(job);
}

MicroPlanned plan_kernel(MicroJob& job) {
  if (job.kernel.name.empty()) job.kernel = parse_words(std::get<MicroRow>(job.row.job).what);
  const auto* kernel = std::ranges::find(kKernels, job.kernel.name, &Kernel::name);
  if (kernel == kKernels.end()) return plan_chain(job);
  if (const std::string other = job.kernel.unknown(kernel->settings); !other.empty())
    return job.unknown(fmt::format("'{}' is not a known setting", other));
  return kernel->plan(job);
}

}  // namespace validation
