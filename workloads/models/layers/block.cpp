#include "workloads/models/layers/block.h"

#include "runtime/ops/ops.h"

namespace workloads {

using runtime::kNoValue;
using runtime::ValueId;

/// A half of a layer. Its places in training and in prompts split by tokens: ranks meet between them. Otherwise, when
/// text is written, it has two alone, its own and that of the sum.
struct Block::Part {
  bool attends;
  std::string name;
  const char *norm, *share, *sum, *behind_place;
  std::string BlockNames::*before;   // its norm,
  std::string BlockNames::*behind;   // with NormPlace::kAround the norm of its output,
  std::string BlockNames::*factors;  // and the factors of this
};
const Block::Part Block::kAttention{true,
                                    "attention",
                                    "norm1",
                                    "share1",
                                    "sum1",
                                    "behind1",
                                    &BlockNames::norm1,
                                    &BlockNames::behind1,
                                    &BlockNames::scale1};
const Block::Part Block::kMlp{
    false, "mlp", "norm2", "share2", "sum2", "behind2", &BlockNames::norm2, &BlockNames::behind2, &BlockNames::scale2};

Block::Block(Layers& net, const BlockArch& arch, std::int64_t layers) : net_{net}, arch_{arch} {
  if (arch.mixture) mixture_.emplace(net, arch, layers);
}

void Block::layer(Residual& x, std::int64_t number, std::string prefix, const LayerInputs& inputs) {
  number_ = number, prefix_ = std::move(prefix), inputs_ = inputs;
  net_.restart_stream();
  if (arch_.residual.parallel) return parallel(x);
  part(x, kAttention);
  part(x, kMlp);
  end(x);
}

void Block::enter_apart(const char* part) {
  if (apart()) net_.places().enter_part(part);
}

void Block::part(Residual& x, const Part& part) {
  net_.places().enter_part(apart() ? part.norm : part.name);
  const NormPlace norms = arch_.residual.norms;
  const bool bare = arch_.residual.bare_first && part.attends && number_ == 0;
  const bool before = (norms == NormPlace::kBefore || norms == NormPlace::kAround) && !bare;
  ValueId h = before ? normed(part.name + ".norm", x, name(arch_.names.*part.before), false) : add_pending(x);
  // A collective's scope holds nothing else, such as the sum of the gradients of its input and the residual's.
  if (!before && apart() && net_.program().split()) h = net_.graph().add1(runtime::kAffine, part.name + ".input", {h});
  if (Mixture* experts = this->experts();
      trains() && !part.attends && experts) {  // which brings its rows to ranks and back
    x.pending = experts->routed(h, number_, prefix_), x.scale = arch_.residual.scale, x.label = "mlp.residual";
    if (behind()) x.pending = normed_behind(part, x.pending);
    return;
  }
  enter_apart(part.share);
  if (apart()) h = net_.shared(h);
  enter_apart(part.name.c_str());
  h = body(part, h);
  defer(x, h, part, {part.attends ? arch_.names.attention.out : arch_.names.mlp.down});
}

/// In training a layer leaves its sum complete.
void Block::end(Residual& x) {
  if (!trains()) return;
  if (!experts()) net_.places().enter_part("residual");
  add_pending(x);
}

/// Both parts read the layer's input. Without dropout of each, ranks add up both at once.
void Block::parallel(Residual& x) {
  const BlockNames& names = arch_.names;
  net_.places().enter_part(apart() ? kAttention.norm : kAttention.name);
  ValueId a = normed("attention.norm", x, name(names.norm1), false);
  const bool alike = names.norm2.empty();
  ValueId m = alike ? a : net_.norm("mlp.norm", x.sum, arch_.norm, name(names.norm2));
  enter_apart(kAttention.share);
  if (apart()) a = net_.shared(a);
  if (!alike) enter_apart(kMlp.share);
  if (apart()) m = alike ? a : net_.shared(m);
  enter_apart(kAttention.name.c_str());
  a = body(kAttention, a);
  const bool dropped = trains() && arch_.residual.dropout > 0;
  if (dropped) defer(x, a, kAttention, {names.attention.out});
  net_.places().enter_part(kMlp.name);
  m = body(kMlp, m);
  if (dropped) {
    add_pending(x);
    defer(x, m, kMlp, {names.mlp.down});
  } else {
    defer(x, net_.add("parts", a, m), kMlp, {names.attention.out, names.mlp.down});
  }
  end(x);
}

ValueId Block::body(const Part& part, ValueId h) {
  if (part.attends) return attention(h);
  if (Mixture* experts = this->experts()) return experts->gated(h, prefix_);
  const MlpNames& names = arch_.names.mlp;
  return net_.mlp(
      h, arch_.mlp,
      {.gate = name(names.gate), .up = name(names.up), .down = name(names.down), .curve = name(names.curve)});
}

/// Makes a part's output, summed over the ranks, pending in x; the biases of its row-split layers are added once.
void Block::defer(Residual& x, ValueId y, const Part& part, std::vector<std::string> outs) {
  x.scale = arch_.residual.scale, x.biases.clear();
  if (net_.program().split())
    for (const std::string& out : outs)
      if (const std::string bias = name(out) + ".bias"; net_.has(bias)) x.biases.push_back(bias);
  if (!trains() && !behind() && x.biases.empty())  // before the sum, whose place holds nothing else
    y = net_.times("residual.scale", y, x.scale), x.scale = 1;
  if (net_.program().split()) net_.places().enter_part(part.sum);
  x.pending = net_.summed(y), x.label = part.name + ".residual";
  if (arch_.residual.norms == NormPlace::kAfterSum) x.norm = name(arch_.names.*part.before);
  const std::string& factors = arch_.names.*part.factors;
  x.factors = factors.empty() ? factors : name(factors);
  if (!behind()) return;
  if (net_.program().split()) net_.places().enter_part(part.behind_place);
  x.pending = normed_behind(part, with_biases(x));
}

/// The norm of a part's output.
ValueId Block::normed_behind(const Part& part, ValueId y) {
  const bool around = arch_.residual.norms == NormPlace::kAround;
  const std::string BlockNames::*norm = around ? part.behind : part.before;
  return net_.norm(part.name + (around ? ".norm.behind" : ".norm"), y, arch_.norm, name(arch_.names.*norm));
}

ValueId Block::with_biases(Residual& x) {
  for (const std::string& bias : x.biases) x.pending = net_.add(x.label + ".bias", x.pending, net_.w(bias));
  x.biases.clear();
  return x.pending;
}

ValueId Block::add_pending(Residual& x) {
  if (x.pending == kNoValue) return x.sum;
  ValueId y = net_.times(x.label + ".scale", with_biases(x), x.scale);
  if (!x.factors.empty()) y = net_.graph().add1(runtime::kMul, x.label + ".factors", {y, net_.w(x.factors)});
  x.sum = net_.add(x.label, net_.dropout(x.label + ".dropout", y, arch_.residual.dropout), x.sum);
  x.pending = kNoValue;
  if (!x.norm.empty()) x.sum = net_.norm(x.label + ".norm", x.sum, arch_.norm, x.norm);
  return x.sum;
}

ValueId Block::normed(const std::string& label, Residual& x, const std::string& name, bool few) {
  if (!few && net_.program().mode != Mode::kToken) return net_.norm(label, add_pending(x), arch_.norm, name);
  if (!x.norm.empty() || !x.factors.empty()) add_pending(x);
  if (x.pending != kNoValue && (x.biases.size() > 1 || x.scale != 1)) with_biases(x);  // a scale is of both
  if (x.pending != kNoValue) x.pending = net_.times(x.label + ".scale", x.pending, x.scale);
  const ValueId bias = x.pending == kNoValue || x.biases.empty() ? kNoValue : net_.w(x.biases.front());
  const ValueId h = net_.skinny_norm(label, x.sum, arch_.norm, name, x.pending, bias);
  x.pending = kNoValue;
  return h;
}

std::vector<ValueId> Block::queries_keys_values(ValueId h) {
  const AttentionNames& names = arch_.names.attention;
  if (arch_.attention.latent.keys > 0) return by_latents(h);
  std::vector<ValueId> qkv;
  if (trains() && !joins_ranks()) {
    qkv.push_back(rotated(true, net_.linear("attention.query", h, name(names.query))));
    qkv.push_back(rotated(false, net_.linear("attention.key", h, name(names.key))));
    qkv.push_back(net_.linear("attention.value", h, name(names.value)));
  } else {
    if (trains())
      qkv = {net_.linear("attention.query", h, name(names.query)), net_.linear("attention.key", h, name(names.key)),
             net_.linear("attention.value", h, name(names.value))};
    else
      qkv = net_.products("attention.qkv", h, {name(names.query), name(names.key), name(names.value)});
    const std::array<ValueId, 2> squares = squares_of_ranks(qkv);
    qkv[0] = rotated(true, qkv[0], squares[0]);
    qkv[1] = rotated(false, qkv[1], squares[1]);
  }
  qkv[2] = net_.clipped("attention.value.clip", qkv[2], arch_.attention.clip);
  return qkv;
}

/// Whether one norm covers the queries, or the keys, of several ranks.
bool Block::joins_ranks() const {
  return arch_.attention.norms == HeadNorms::kJoint && net_.program().split() &&
         !arch_.names.attention.query_norm.empty();
}

/// The sums of all ranks' squares of queries, and of keys, where one norm covers them. Each rank works on with the
/// sums, so their gradients are those of all.
std::array<ValueId, 2> Block::squares_of_ranks(const std::vector<ValueId>& qkv) {
  std::array<ValueId, 2> sums{kNoValue, kNoValue};
  if (!joins_ranks()) return sums;
  const std::array<std::string, 2> labels{"attention.query", "attention.key"};
  for (std::size_t i = 0; i < 2; ++i)
    sums[i] = net_.graph().add1(runtime::kRowDot, labels[i] + ".squares", {qkv[i], qkv[i]});
  for (std::size_t i = 0; i < 2; ++i) {  // a collective's place holds nothing else
    net_.places().enter_part(labels[i] + ".sum");
    sums[i] = net_.graph().add1(runtime::kRankSum, labels[i] + ".sum", {sums[i]}, net_.group());
    net_.places().enter_part(labels[i] + ".share");
    sums[i] = net_.graph().add1(runtime::kRankFork, labels[i] + ".share", {sums[i]}, net_.group());
  }
  net_.places().enter_part("attention.heads");
  return sums;
}

/// The three projections of the input come first, that of queries last: while its weights are read, which are more than
/// the others', keys and values go on.
std::vector<ValueId> Block::by_latents(ValueId h) {
  const AttentionArch& arch = arch_.attention;
  const AttentionNames& names = arch_.names.attention;
  const NormArch between{.rms = true, .eps = arch.latent.eps};
  const bool few = arch.latent.queries > 0;  // elements of queries, too
  std::vector<ValueId> first = net_.products(
      "attention.latents", h, {name(names.low), name(names.turned), name(few ? names.query_low : names.query)});
  const ValueId low = net_.norm("attention.low.norm", first[0], between, name(names.low_norm));
  const ValueId turned = net_.rotated("attention.key.rope", first[1], arch_, number_, false);
  const std::vector<ValueId> wide = net_.products("attention.key_value", low, {name(names.key), name(names.value)});
  ValueId q = first[2];
  if (few) {
    q = net_.norm("attention.query.low.norm", q, between, name(names.query_low_norm));
    q = net_.linear("attention.query", q, name(names.query));
  }
  q = net_.rotated("attention.query.rope", q, arch_, number_, true);
  const std::int64_t heads = arch.heads / net_.program().ranks;
  return {q, net_.with_shared_part("attention.key.joined", turned, wide[0], heads), wide[1]};
}

ValueId Block::attention(ValueId h) {
  const AttentionNames& names = arch_.names.attention;
  const std::vector<ValueId> qkv = queries_keys_values(h);
  const AttentionArch& arch = arch_.attention;
  const std::string label = "attention.heads";
  const Mode mode = net_.program().mode;
  const ValueId bias =
      arch.places ? net_.place_scores(qkv, arch, inputs_.places, name(names.place_key), name(names.place_query))
                  : inputs_.bias;
  const Seen seen{.queries = net_.program().length,
                  .causal = arch.causal,
                  .window = arch.causal ? arch.window.of(number_) : 0,
                  .mask = inputs_.mask,
                  .bias = bias,
                  .sinks = names.sinks.empty() ? kNoValue : net_.w(name(names.sinks))};
  const ValueId context = mode == Mode::kToken ? net_.cached_heads(label, qkv, arch, inputs_.caches, seen)
                                               : net_.heads(label, qkv, arch, seen);
  if (mode == Mode::kPrompt) net_.filled("attention.cache", inputs_.caches, qkv[1], qkv[2]);
  return net_.row_split("attention.output", context, name(names.out));
}

/// Queries or keys with their heads normed, where the model does, and at their positions. `squares`: of all ranks,
/// which share the norm.
ValueId Block::rotated(bool queries, ValueId x, ValueId squares) {
  const std::string label = queries ? "attention.query" : "attention.key";
  const bool first = !arch_.attention.norms_turned;
  if (first) x = normed_heads(queries, x, squares);
  x = net_.clipped(label + ".clip", x, arch_.attention.clip);
  x = net_.rotated(label + ".rope", x, arch_, number_, queries);
  return first ? x : normed_heads(queries, x, squares);
}

ValueId Block::normed_heads(bool queries, ValueId x, ValueId squares) {
  const AttentionArch& arch = arch_.attention;
  const AttentionNames& names = arch_.names.attention;
  const NormArch& of_heads = arch.norm ? *arch.norm : arch_.norm;
  const std::string& norm = queries ? names.query_norm : names.key_norm;
  const std::string label = queries ? "attention.query.norm" : "attention.key.norm";
  if (squares != kNoValue)
    x = net_.joint_norm(label, x, squares, of_heads, name(norm));
  else if (!norm.empty() && arch.norms == HeadNorms::kOwn)
    x = net_.own_norms(label, x, of_heads, name(norm), arch.head);
  else if (!norm.empty())
    x = net_.norm(label, x, of_heads, name(norm));
  if (arch.norms == HeadNorms::kBare && arch_.rotary.turns(number_))
    x = net_.bare_norms(label, x, of_heads, arch.head, net_.numerics().weight);
  return x;
}

}  // namespace workloads
