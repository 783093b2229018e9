// Blocks of tokens, each of which one expert works on, in turn: how prompts pass a mixture of experts in NxD Inference.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/compiler/row_tiler.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/slots.h"

namespace runtime {
namespace {

/// y[t] is the sum over all rows of blocks that name token t of its gate times its expert's output of x[t], with
/// attrs.scales_inputs of the expert's output of its gate times x[t]; rows of block n have expert n mod E. Shapes: x
/// [T, C], tokens [N * attrs.block, 1] int32, gates [T, E] fp32, then for each expert gate [C, I], up [C, I] and down
/// [I, C], rows as blocked_row() says, with attrs.biased [1, I], [1, I] and [1, C] too -> y [T, C]. A block names a
/// token once; of one that it names twice one row counts. Errors: Fault::kProgram for blocks of more than 512 rows.
/// Source: NxD Inference, modules/moe/expert_mlps_v2.py, forward_blockwise; AWS's nki-library, bwmm_shard_on_H.py, a
/// sequential loop whose iterations begin with a barrier of both cores: it gathers the rows of a block, transposes them
/// square by square, adds to the rows of y in HBM, and scatters them. Sums of both cores' parts of gate and up cross in
/// between. Lowering: as there.
constexpr std::size_t kTokens = 1, kGateOf = 2, kFirstWeight = 3, kWeights = 3;  // operands; of an expert

/// An expert's operands.
std::size_t each_of(const ExpertBlocksAttrs& a) { return (a.biased ? 2 : 1) * kWeights; }

struct ExpertSizes {
  std::int64_t tokens, cols, inner, experts, block, blocks;

  template <class RowsAndCols>  // of operand i
  ExpertSizes(std::size_t inputs, const ExpertBlocksAttrs& a, const RowsAndCols& of)
      : tokens{of(0).first},
        cols{of(0).second},
        inner{of(kFirstWeight).second},
        experts{static_cast<std::int64_t>((inputs - kFirstWeight) / each_of(a))},
        block{a.block},
        blocks{of(kTokens).first / a.block} {}
};
ExpertSizes sizes_of(const Graph& g, const Node& n) {
  return {n.in.size(), n.attrs.as<ExpertBlocksAttrs>(), [&](std::size_t i) {
            return std::pair{g.value(n.in[i]).rows, g.value(n.in[i]).cols};
          }};
}

std::vector<Shape> expert_blocks_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<ExpertBlocksAttrs>();
  const std::int64_t block = a.block;
  if (block < 1 || block > kChunk) c.fail("a block has no rows, or more than 512", "set block");
  const std::size_t each = each_of(a);
  if (c.inputs() < kFirstWeight + each || (c.inputs() - kFirstWeight) % each != 0)
    c.fail("an expert does not have three weights, or as many biases", "give gate, up and down of each");
  const ExpertSizes n = sizes_of(c.graph, c.node);
  if (c.in(kTokens).rows % block != 0) c.fail("its last block is not whole", "give a token for each row");
  c.need(kTokens, n.blocks * block, 1, "tokens");
  c.need(kGateOf, n.tokens, n.experts, "gates");
  for (std::size_t i = kFirstWeight; i < c.inputs(); ++i) {
    const std::size_t nth = (i - kFirstWeight) % each;
    const bool down = nth % kWeights == 2, bias = nth >= kWeights;
    c.need(i, bias ? 1 : (down ? n.inner : n.cols), down ? n.cols : n.inner, bias ? "bias" : "weight");
  }
  return {{n.tokens, n.cols, c.result_type()}};
}

/// fn(slope * gate) / slope * (up + shift) of one row, within the limit.
Tensor gated_row(const GateAttrs& a, Tensor gate, const Tensor& up) {
  const auto limit = static_cast<float>(a.limit > 0 ? a.limit : INFINITY);
  for (float& x : gate.data) x = static_cast<float>(a.slope) * std::min(x, limit);
  Tensor out = kActivate.forward(ActivationAttrs{.fn = a.fn}, std::span{&gate, 1})[0];
  for (std::size_t i = 0; i < out.data.size(); ++i)
    out.data[i] *= static_cast<float>((std::clamp(up.data[i], -limit, limit) + a.shift) / a.slope);
  return out;
}

Tensors expert_blocks_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ExpertBlocksAttrs>();
  const ExpertSizes n{in.size(), a, [&](std::size_t i) { return std::pair{in[i].rows, in[i].cols}; }};
  Tensor y(n.tokens, n.cols);
  for (std::int64_t r = 0; r < n.blocks * n.block; ++r) {
    const std::int64_t e = r / n.block % n.experts, t = static_cast<std::int64_t>(in[kTokens].at(r, 0));
    const Tensor* weights = &in[kFirstWeight + static_cast<std::size_t>(e) * each_of(a)];
    const auto product = [&](std::size_t which, const float* row, std::int64_t column) {
      const Tensor& w = weights[which];
      double sum = a.biased ? weights[kWeights + which].at(0, column) : 0;
      for (std::int64_t k = 0; k < w.rows; ++k)
        sum += static_cast<double>(row[k]) * w.at(blocked_row(k, w.rows), column);
      return sum;
    };
    const float share = in[kGateOf].at(t, e), before = a.scales_inputs ? share : 1, after = a.scales_inputs ? 1 : share;
    const Tensor x = generate(1, n.cols, [&](auto, auto c) { return before * in[0].at(t, c); });
    const Tensor gate = generate(1, n.inner, [&](auto, auto i) { return product(0, x.row(0), i); });
    const Tensor up = generate(1, n.inner, [&](auto, auto i) { return product(1, x.row(0), i); });
    const Tensor inner = gated_row(a.gate, gate, up);
    for (std::int64_t c = 0; c < n.cols; ++c) y.at(t, c) += static_cast<float>(after * product(2, inner.row(0), c));
  }
  return {y};
}

class ExpertBlocks {
 public:
  ExpertBlocks(Emitter& e, const Node& node)
      : e_{e},
        node_{node},
        a_{node.attrs.as<ExpertBlocksAttrs>()},
        n_{sizes_of(e.graph(), node)},
        type_{operand_type(e.graph(), node)} {}

  void run() {
    const Value& out = e_.value(node_.out[0]);
    for (std::int64_t row = 0; row < n_.tokens; row += kPartitions) {
      const std::int64_t parts = std::min(kPartitions, n_.tokens - row);
      const Tile zeros = e_.sbuf(out.dtype, parts, n_.cols);
      e_.fill(zeros, 0);
      e_.store(e_.hbm(node_.out[0], row, parts), zeros);
    }
    for (std::int64_t b = 0; b < n_.blocks; ++b) {
      if (b > 0) next_iteration();
      one(b);
    }
  }

 private:
  using Panels = std::vector<Tile>;  // of 128 rows or less

  /// A block ends before the next one begins: which expert that is for is known only when it runs, and it adds to rows
  /// that this one has written (NxD, modules/moe/blockwise.py). Assumed: the kernel's loop is one of the sequencers'.
  void next_iteration() {
    for (std::size_t engine = 0; engine < isa::kEngineCount; ++engine)
      e_.emit({.op = Opcode::kWait, .engine = static_cast<isa::Engine>(engine), .imm0 = 1});
  }

  /// A block, in two operations: both cores have to see the sums in between, and the rows that a block before has
  /// added.
  void one(std::int64_t block) {
    const std::int64_t expert = block % n_.experts;
    e_.label(fmt::format("{}.{}.in", node_.label, block));
    std::vector<Tile> names;
    for (std::int64_t row = 0; row < n_.block; row += kPartitions)
      names.push_back(e_.loaded(
          Dtype::kInt32, e_.hbm(node_.in[kTokens], block * n_.block + row, std::min(kPartitions, n_.block - row))));
    const Panels turned = turned_rows(names, expert);
    const Panels gate = product(turned, expert, 0), up = product(turned, expert, 1);
    e_.label(fmt::format("{}.{}.out", node_.label, block));
    Panels inner;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const Tile active = e_.sbuf(Dtype::kFp32, gate[i].partitions, n_.block);
      inner.push_back(e_.sbuf(type_, gate[i].partitions, n_.block));
      limit(gate[i], up[i]);
      e_.activation(active, a_.gate.fn, gate[i], static_cast<float>(a_.gate.slope));
      e_.tensor_tensor(inner.back(), active, Alu::kMul, up[i]);
    }
    add(names, inner, expert);
  }

  /// Both within the limit, and `up` as the activation is multiplied by it.
  void limit(const Tile& gate, const Tile& up) {
    const auto& [fn, limit, slope, shift] = a_.gate;
    const auto most = static_cast<float>(limit);
    if (limit > 0) e_.tensor_scalar(gate, gate, Alu::kMin, most);
    if (limit > 0) e_.tensor_scalar(up, up, Alu::kMax, -most, Alu::kMin, most);
    if (slope != 1 || shift != 0)
      e_.tensor_scalar(up, up, Alu::kMul, static_cast<float>(1 / slope), Alu::kAdd, static_cast<float>(shift / slope));
  }

  Tile gathered(ValueId from, const Tile& names) {
    const Value& value = e_.value(from);
    const Tile out = e_.sbuf(value.dtype, names.partitions, value.cols);
    e_.emit({.op = Opcode::kDmaGather, .engine = isa::Engine::kSync, .dst = out, .a = table_of(e_, from), .b = names});
    return out;
  }

  /// The block's rows with their columns on the partitions.
  Panels turned_rows(const std::vector<Tile>& names, std::int64_t expert) {
    Panels out;
    for (std::int64_t c = 0; c < n_.cols; c += kPartitions)
      out.push_back(e_.sbuf(type_, std::min(kPartitions, n_.cols - c), n_.block));
    for (std::size_t t = 0; t < names.size(); ++t) {
      const Tile rows = gathered(node_.in[0], names[t]);
      if (a_.scales_inputs) e_.tensor_scalar(rows, rows, Alu::kMul, gate_of(names[t], expert));
      for (std::size_t i = 0; i < out.size(); ++i) {
        const Tile square = e_.psum(out[i].partitions, rows.partitions, rows.dtype);
        e_.transpose(square, columns(rows, static_cast<std::int64_t>(i) * kPartitions, out[i].partitions));
        e_.copy(columns(out[i], static_cast<std::int64_t>(t) * kPartitions, rows.partitions), square);
      }
    }
    return out;
  }

  /// The gates of the tokens that a tile names.
  Tile gate_of(const Tile& names, std::int64_t expert) {
    return columns(gathered(node_.in[kGateOf], names), expert, 1);
  }

  ValueId operand(std::int64_t expert, std::size_t which) const {
    return node_.in[kFirstWeight + static_cast<std::size_t>(expert) * each_of(a_) + which];
  }
  /// A weight of an expert, 128 rows of the mathematics in each panel.
  Panels weight(std::int64_t expert, std::size_t which) {
    const ValueId v = operand(expert, which);
    const Value& w = e_.value(v);
    const std::int64_t whole = w.rows / kPartitions, rest = w.rows % kPartitions;
    Panels out;
    if (whole > 0) {
      Tile from = e_.hbm(v, 0, kPartitions, 0, w.cols, whole);
      from.rank = 2;
      from.free[1] = from.free[0];
      from.free[0] = {.step = static_cast<std::int32_t>(w.cols), .size = static_cast<std::uint32_t>(whole)};
      const Tile all = e_.loaded(type_, from);
      for (std::int64_t i = 0; i < whole; ++i) out.push_back(columns(all, i * w.cols, w.cols));
    }
    if (rest > 0) out.push_back(e_.loaded(type_, e_.hbm(v, whole * kPartitions, rest)));
    return out;
  }

  /// Columns of x w on the partitions, in fp32, and their biases.
  Panels product(const Panels& turned, std::int64_t expert, std::size_t which) {
    Panels out;
    const Panels w = weight(expert, which);
    for (std::int64_t first = 0; first < n_.inner; first += kPartitions) {
      const std::int64_t parts = std::min(kPartitions, n_.inner - first);
      const Tile sum = e_.psum(parts, n_.block);
      for (std::size_t i = 0; i < turned.size(); ++i) e_.matmul(sum, columns(w[i], first, parts), turned[i], i > 0);
      out.push_back(e_.sbuf(Dtype::kFp32, parts, n_.block));
      if (a_.biased)
        e_.tensor_scalar(out.back(), sum, Alu::kAdd,
                         e_.loaded(Dtype::kFp32, e_.hbm_flat(operand(expert, kWeights + which), first, parts, 1, 1)));
      else
        e_.copy(out.back(), sum);
    }
    return out;
  }

  /// The expert's output times the gates is added to the tokens' rows.
  void add(const std::vector<Tile>& names, const Panels& inner, std::int64_t expert) {
    const Panels down = weight(expert, 2);
    std::vector<Tile> sums;
    for (const Tile& name : names) sums.push_back(gathered(node_.out[0], name));
    for (std::size_t t = 0; t < names.size(); ++t) {
      const std::int64_t parts = names[t].partitions;
      std::optional<Tile> gate;
      if (!a_.scales_inputs) gate = gate_of(names[t], expert);
      for (std::int64_t c = 0; c < n_.cols; c += kChunk) {
        const std::int64_t width = std::min(kChunk, n_.cols - c);
        const Tile sum = e_.psum(parts, width), scaled = e_.sbuf(sums[t].dtype, parts, width);
        for (std::size_t i = 0; i < inner.size(); ++i)
          e_.matmul(sum, columns(inner[i], static_cast<std::int64_t>(t) * kPartitions, parts),
                    columns(down[i], c, width), i > 0);
        if (a_.biased)
          e_.tensor_tensor(sum, sum, Alu::kAdd, e_.broadcast(operand(expert, kWeights + 2), parts, c, width));
        gate ? e_.tensor_scalar(scaled, sum, Alu::kMul, *gate) : e_.copy(scaled, sum);
        e_.tensor_tensor(columns(sums[t], c, width), columns(sums[t], c, width), Alu::kAdd, scaled);
      }
    }
    for (std::size_t t = 0; t < names.size(); ++t) e_.scatter(table_of(e_, node_.out[0]), sums[t], names[t]);
  }

  Emitter& e_;
  const Node& node_;
  const ExpertBlocksAttrs& a_;
  const ExpertSizes n_;
  const Dtype type_;  // of TensorE's operands
};

void expert_blocks_lower(Emitter& e, const Node& node) { ExpertBlocks{e, node}.run(); }

double expert_blocks_flops(const Graph& g, const Node& node) {
  const ExpertSizes n = sizes_of(g, node);
  return 2.0 * 3 * static_cast<double>(n.blocks * n.block) * static_cast<double>(n.cols * n.inner);
}

}  // namespace

const Op kExpertBlocks{.name = "expert_blocks",
                       .text = "tokens through their experts, block by block",
                       .attrs = ExpertBlocksAttrs{},
                       .infer = expert_blocks_infer,
                       .forward = expert_blocks_forward,
                       .lower_whole = expert_blocks_lower,
                       .matmul_flops = expert_blocks_flops};

}  // namespace runtime
