// Spellings of attention as programs in HLO, for tests of rewrites.
#pragma once

#include <string>
#include <vector>

namespace trnsim::frontend {

inline constexpr const char* kAttentionRegions =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    "most {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b)\n}\n";

/// Softmax "p" of scores "s" [2,3,9,9].
inline const std::string kSoftmax =
    "zero = f32[] constant(0)\nlow = f32[] constant(-inf)\nm = f32[2,3,9] reduce(s, low), dimensions={3}, "
    "to_apply=most\n"
    "mm = f32[2,3,9,9] broadcast(m), dimensions={0,1,2}\nd = f32[2,3,9,9] subtract(s, mm)\n"
    "e = f32[2,3,9,9] exponential(d)\nz = f32[2,3,9] reduce(e, zero), dimensions={3}, to_apply=sum\n"
    "zz = f32[2,3,9,9] broadcast(z), dimensions={0,1,2}\np = f32[2,3,9,9] divide(e, zz)\n";

/// Queries, keys and values of 2 sequences, 9 tokens, 3 heads of 8, as PyTorch has them: heads in front of tokens,
/// joined with the sequences; scores "r".
inline const std::string kJoinedHeads =
    "q0 = f32[2,9,24] parameter(0)\nk0 = f32[2,9,24] parameter(1)\nv0 = f32[2,9,24] parameter(2)\n"
    "q1 = f32[2,9,3,8] reshape(q0)\nk1 = f32[2,9,3,8] reshape(k0)\nv1 = f32[2,9,3,8] reshape(v0)\n"
    "q2 = f32[2,3,9,8] transpose(q1), dimensions={0,2,1,3}\nk2 = f32[2,3,9,8] transpose(k1), dimensions={0,2,1,3}\n"
    "v2 = f32[2,3,9,8] transpose(v1), dimensions={0,2,1,3}\nk3 = f32[2,3,8,9] transpose(k2), dimensions={0,1,3,2}\n"
    "q = f32[6,9,8] reshape(q2)\nk = f32[6,8,9] reshape(k3)\nv = f32[6,9,8] reshape(v2)\n"
    "dots = f32[6,9,9] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={1}\nr = f32[2,3,9,9] reshape(dots)\n";
/// The context of these.
inline const std::string kJoinedContext =
    "pj = f32[6,9,9] reshape(p)\nc = f32[6,9,8] dot(pj, v), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\nc1 = f32[2,3,9,8] reshape(c)\n"
    "c2 = f32[2,9,3,8] transpose(c1), dimensions={0,2,1,3}\n";
/// Scores through a number that data says, and a mask that is added.
inline const std::string kMasked =
    "n0 = f32[] parameter(3)\nn1 = f32[] exponential(n0)\nn = f32[2,3,9,9] broadcast(n1), dimensions={}\n"
    "t = f32[2,3,9,9] divide(r, n)\nb0 = f32[9,9] parameter(4)\nb = f32[2,3,9,9] broadcast(b0), dimensions={2,3}\n"
    "s = f32[2,3,9,9] add(t, b)\n";
inline const std::string kScaled =
    "n0 = f32[] constant(0.3535)\nn = f32[2,3,9,9] broadcast(n0), dimensions={}\n"
    "s = f32[2,3,9,9] multiply(n, r)\n";

/// As JAX has it: heads behind tokens; scores "r".
inline std::string apart(const char* keys) {
  return "q = f32[2,9,3,8] parameter(0)\n" + std::string{keys} +
         "r = f32[2,3,9,9] dot(q, k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
         "rhs_contracting_dims={3}\n";
}
inline const char* const kOwnKeys = "k = f32[2,9,3,8] parameter(1)\nv = f32[2,9,3,8] parameter(2)\n";
inline const char* const kSharedKeys =
    "k0 = f32[2,9,8] parameter(1)\nv0 = f32[2,9,8] parameter(2)\n"
    "k = f32[2,9,3,8] broadcast(k0), dimensions={0,1,3}\nv = f32[2,9,3,8] broadcast(v0), dimensions={0,1,3}\n";
inline const std::string kApartContext =
    "c = f32[2,3,9,8] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
    "rhs_contracting_dims={1}\nROOT o = f32[2,9,3,8] transpose(c), dimensions={0,2,1,3}";
/// Values times probabilities: the context is turned.
inline const std::string kTurnedContext =
    "c = f32[2,3,8,9] dot(v, p), lhs_batch_dims={0,2}, rhs_batch_dims={0,1}, lhs_contracting_dims={1}, "
    "rhs_contracting_dims={3}\nROOT o = f32[2,9,3,8] transpose(c), dimensions={0,3,1,2}";
inline const std::string kLater =
    "i = s32[9,9] iota(), iota_dimension=0\nj = s32[9,9] iota(), iota_dimension=1\nseen0 = pred[9,9] compare(i, j), "
    "direction=GE\nseen = pred[2,3,9,9] broadcast(seen0), dimensions={2,3}\nh0 = f32[] constant(-1e30)\n"
    "h = f32[2,3,9,9] broadcast(h0), dimensions={}\n";

inline const std::vector<std::string> kAttentionSpellings = {
    kJoinedHeads + kMasked + kSoftmax + kJoinedContext + "ROOT o = f32[2,9,24] reshape(c2)",
    kJoinedHeads + "s = f32[2,3,9,9] copy(r)\n" + kSoftmax + kJoinedContext + "ROOT o = f32[2,9,24] reshape(c2)",
    apart(kOwnKeys) + kScaled + kSoftmax + kApartContext,
    apart(kOwnKeys) + kScaled + kSoftmax + kTurnedContext,
    apart(kSharedKeys) + kScaled + kSoftmax + kApartContext,
    // a query sees no later keys: selected behind the scale, and hidden by a sum in front of it
    apart(kOwnKeys) + kLater +
        "n0 = f32[] constant(0.3535)\nn = f32[2,3,9,9] broadcast(n0), dimensions={}\nt = f32[2,3,9,9] multiply(r, n)\n"
        "s = f32[2,3,9,9] select(seen, t, h)\n" +
        kSoftmax + kApartContext,
    apart(kOwnKeys) + kLater +
        "y0 = f32[] constant(0)\ny = f32[2,3,9,9] broadcast(y0), dimensions={}\n"
        "b = f32[2,3,9,9] select(seen, y, h)\ns = f32[2,3,9,9] add(b, r)\n" +
        kSoftmax + kApartContext,
    // the same by places that are one apart
    apart(kOwnKeys) + kLater +
        "one0 = s32[] constant(1)\none = s32[9,9] broadcast(one0), dimensions={}\ni1 = s32[9,9] add(i, one)\n"
        "later0 = pred[9,9] compare(j, i1), direction=GE\nlater = pred[2,3,9,9] broadcast(later0), dimensions={2,3}\n"
        "s = f32[2,3,9,9] select(later, h, r)\n" +
        kSoftmax + kApartContext,
    // the scale in front of the product, of queries by data and of keys
    "q9 = f32[2,9,3,8] parameter(0)\nn0 = f32[] parameter(3)\nn = f32[2,9,3,8] broadcast(n0), dimensions={}\n"
    "q = f32[2,9,3,8] divide(q9, n)\nk9 = f32[2,9,3,8] parameter(1)\nf0 = f32[] constant(0.5)\n"
    "f = f32[2,9,3,8] broadcast(f0), dimensions={}\nk = f32[2,9,3,8] multiply(f, k9)\n"
    "v = f32[2,9,3,8] parameter(2)\n"
    "s = f32[2,3,9,9] dot(q, k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
    "rhs_contracting_dims={3}\n" +
        kSoftmax + kApartContext,
    // scores that are capped
    apart(kOwnKeys) +
        "n0 = f32[] constant(0.02)\nn = f32[2,3,9,9] broadcast(n0), dimensions={}\nt = f32[2,3,9,9] multiply(n, r)\n"
        "th = f32[2,3,9,9] tanh(t)\nf0 = f32[] constant(30)\nf = f32[2,3,9,9] broadcast(f0), dimensions={}\n"
        "s = f32[2,3,9,9] multiply(th, f)\n" +
        kSoftmax + kApartContext,
    // the same, repeated for heads before truths become numbers, as PyTorch's own layer does
    kJoinedHeads +
        "w0 = pred[2,9] parameter(3)\nw1 = pred[2,3,9] broadcast(w0), dimensions={0,2}\nw = pred[6,9] reshape(w1)\n"
        "h0 = f32[] constant(-inf)\nh = f32[6,9] broadcast(h0), dimensions={}\ny0 = f32[] constant(0)\n"
        "y = f32[6,9] broadcast(y0), dimensions={}\nb0 = f32[6,9] select(w, h, y)\n"
        "b6 = f32[6,9,9] broadcast(b0), dimensions={0,2}\nb = f32[2,3,9,9] reshape(b6)\ns = f32[2,3,9,9] add(r, b)\n" +
        kSoftmax + kJoinedContext + "ROOT o = f32[2,9,24] reshape(c2)",
    // keys that a sequence has not
    apart(kOwnKeys) +
        "x0 = s32[2,9] parameter(3)\nx1 = s32[2,9] iota(), iota_dimension=1\nx = s32[2,9] add(x0, x1)\n"
        "two0 = s32[] constant(2)\ntwo = s32[2,9] broadcast(two0), dimensions={}\n"
        "w0 = pred[2,9] compare(x, two), direction=LT\nw = pred[2,3,9,9] broadcast(w0), dimensions={0,3}\n"
        "h0 = f32[] constant(-1e30)\nh = f32[2,3,9,9] broadcast(h0), dimensions={}\n"
        "s = f32[2,3,9,9] select(w, h, r)\n" +
        kSoftmax + kApartContext,
};

/// The gradient of kJoinedHeads for all three, of the context's gradient [2,9,24].
inline const std::string kJoinedGradient =
    "g0 = f32[2,9,24] parameter(5)\ng1 = f32[2,9,3,8] reshape(g0)\n"
    "g2 = f32[2,3,9,8] transpose(g1), dimensions={0,2,1,3}\ng = f32[6,9,8] reshape(g2)\n"
    "dv = f32[6,9,8] dot(pj, g), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
    "rhs_contracting_dims={1}\n"
    "dp0 = f32[6,9,9] dot(g, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={2}\ndp = f32[2,3,9,9] reshape(dp0)\n"
    "u = f32[2,3,9,9] multiply(dp, p)\nu1 = f32[2,3,9] reduce(u, zero), dimensions={3}, to_apply=sum\n"
    "u2 = f32[2,3,9,9] broadcast(u1), dimensions={0,1,2}\nu3 = f32[2,3,9,9] multiply(p, u2)\n"
    "ds0 = f32[2,3,9,9] subtract(u, u3)\nds1 = f32[2,3,9,9] divide(ds0, n)\nds = f32[6,9,9] reshape(ds1)\n"
    "dq = f32[6,9,8] dot(ds, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={2}\n"
    "dk = f32[6,8,9] dot(q, ds), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
    "rhs_contracting_dims={1}\ndk1 = f32[2,3,8,9] reshape(dk)\n"
    "dk2 = f32[2,9,3,8] transpose(dk1), dimensions={0,3,1,2}\n"
    "ROOT o = (f32[2,9,3,8], f32[6,9,8], f32[2,9,3,8], f32[6,9,8]) tuple(c2, dq, dk2, dv)";
inline const std::string kAttentionWithGradient = kJoinedHeads + kMasked + kSoftmax + kJoinedContext + kJoinedGradient;

inline std::string replaced(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}
/// The same with queries that are divided by data in front of the product, as PyTorch's own layer has them.
inline const std::string kDividedWithGradient =
    replaced(kJoinedHeads, "q = f32[6,9,8] reshape(q2)",
             "q3 = f32[6,9,8] reshape(q2)\nn0 = f32[] parameter(3)\nn = f32[6,9,8] broadcast(n0), dimensions={}\n"
             "q = f32[6,9,8] divide(q3, n)") +
    "s = f32[2,3,9,9] copy(r)\n" + kSoftmax + kJoinedContext +
    replaced(
        replaced(replaced(replaced(kJoinedGradient, "parameter(5)", "parameter(4)"), "divide(ds0, n)", "copy(ds0)"),
                 "dk = f32[6,8,9]", "dq3 = f32[6,9,8] divide(dq, n)\ndk = f32[6,8,9]"),
        "tuple(c2, dq,", "tuple(c2, dq3,");

/// Queries that do not see the keys that data says: their scores are this number, and have no gradient.
inline std::string chosen(const std::string& hidden, const std::string& form = "9,9",
                          const std::string& places = "2,3") {
  std::string gradient = kJoinedGradient;
  const std::string scaled = "ds1 = f32[2,3,9,9] divide(ds0, n)";
  gradient.replace(gradient.find(scaled), scaled.size(),
                   "z1 = f32[2,3,9,9] broadcast(zero), dimensions={}\ndz = f32[2,3,9,9] select(t, z1, ds0)\n"
                   "ds1 = f32[2,3,9,9] divide(dz, n)");
  return kJoinedHeads +
         "n0 = f32[] parameter(3)\nn = f32[2,3,9,9] broadcast(n0), dimensions={}\nr1 = f32[2,3,9,9] divide(r, n)\n"
         "t0 = pred[" +
         form + "] parameter(4)\nt = pred[2,3,9,9] broadcast(t0), dimensions={" + places + "}\nh0 = f32[] constant(" +
         hidden + ")\nh = f32[2,3,9,9] broadcast(h0), dimensions={}\ns = f32[2,3,9,9] select(t, h, r1)\n" + kSoftmax +
         kJoinedContext + gradient;
}

/// Four heads in the place of three.
inline std::string of_four(std::string text) {
  for (std::size_t at = text.find("[2,3,"); at != std::string::npos; at = text.find("[2,3,")) text[at + 3] = '4';
  return text;
}
/// Two heads share each key and value, which are repeated, and their gradients are sums; queries have their heads in
/// front of their tokens, as rotary positions leave them.
inline const std::string kSharedWithGradient =
    "q0 = f32[2,4,9,8] parameter(0)\nk0 = f32[2,9,16] parameter(1)\nv0 = f32[2,9,16] parameter(2)\n"
    "k1 = f32[2,9,2,8] reshape(k0)\nv1 = f32[2,9,2,8] reshape(v0)\n"
    "k2 = f32[2,2,9,8] transpose(k1), dimensions={0,2,1,3}\nv2 = f32[2,2,9,8] transpose(v1), dimensions={0,2,1,3}\n"
    "k3 = f32[2,2,2,9,8] broadcast(k2), dimensions={0,1,3,4}\nv3 = f32[2,2,2,9,8] broadcast(v2), "
    "dimensions={0,1,3,4}\nk4 = f32[8,9,8] reshape(k3)\nv = f32[8,9,8] reshape(v3)\n"
    "k = f32[8,8,9] transpose(k4), dimensions={0,2,1}\nq = f32[8,9,8] reshape(q0)\n"
    "dots = f32[8,9,9] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={1}\nr = f32[2,4,9,9] reshape(dots)\n" +
    of_four(kScaled + kSoftmax) +
    "pj = f32[8,9,9] reshape(p)\nc = f32[8,9,8] dot(pj, v), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\nc1 = f32[2,4,9,8] reshape(c)\n"
    "g0 = f32[2,4,9,8] parameter(3)\ng = f32[8,9,8] reshape(g0)\n"
    "dv = f32[8,9,8] dot(pj, g), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
    "rhs_contracting_dims={1}\ndv1 = f32[2,2,2,9,8] reshape(dv)\n"
    "dv2 = f32[2,2,9,8] reduce(dv1, zero), dimensions={2}, to_apply=sum\n"
    "dp0 = f32[8,9,9] dot(g, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={2}\ndp = f32[2,4,9,9] reshape(dp0)\n"
    "u = f32[2,4,9,9] multiply(dp, p)\nu1 = f32[2,4,9] reduce(u, zero), dimensions={3}, to_apply=sum\n"
    "u2 = f32[2,4,9,9] broadcast(u1), dimensions={0,1,2}\nu3 = f32[2,4,9,9] multiply(p, u2)\n"
    "ds0 = f32[2,4,9,9] subtract(u, u3)\nds1 = f32[2,4,9,9] multiply(ds0, n)\nds = f32[8,9,9] reshape(ds1)\n"
    "dq = f32[8,9,8] dot(ds, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={2}\n"
    "dk = f32[8,8,9] dot(q, ds), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
    "rhs_contracting_dims={1}\ndk1 = f32[8,9,8] transpose(dk), dimensions={0,2,1}\n"
    "dk2 = f32[2,2,2,9,8] reshape(dk1)\ndk3 = f32[2,2,9,8] reduce(dk2, zero), dimensions={2}, to_apply=sum\n"
    "ROOT o = (f32[2,4,9,8], f32[8,9,8], f32[2,2,9,8], f32[2,2,9,8]) tuple(c1, dq, dk3, dv2)";

/// Scores, or probabilities, that something else reads; columns that add up to one; half of the probabilities; a mask
/// that differs between sequences and queries.
inline const std::vector<std::string> kNoAttention = {
    apart(kOwnKeys) + kScaled + kSoftmax +
        "c = f32[2,3,9,8] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
        "rhs_contracting_dims={1}\nROOT o = (f32[2,3,9,8], f32[2,3,9,9]) tuple(c, s)",
    apart(kOwnKeys) + kScaled + kSoftmax +
        "c = f32[2,3,9,8] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
        "rhs_contracting_dims={1}\nROOT o = (f32[2,3,9,8], f32[2,3,9,9]) tuple(c, p)",
    apart(kOwnKeys) + kScaled + kSoftmax +
        "c = f32[2,3,9,8] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}\nROOT o = f32[2,9,3,8] transpose(c), dimensions={0,2,1,3}",
    apart(kOwnKeys) + kScaled + kSoftmax +
        "f0 = f32[] constant(0.5)\nf = f32[2,3,9,9] broadcast(f0), dimensions={}\nhalf = f32[2,3,9,9] multiply(p, f)\n"
        "ROOT c = f32[2,3,9,8] dot(half, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
        "rhs_contracting_dims={1}",
    apart(kOwnKeys) +
        "b0 = f32[2,9,9] parameter(3)\nb = f32[2,3,9,9] broadcast(b0), dimensions={0,2,3}\ns = f32[2,3,9,9] add(r, "
        "b)\n" +
        kSoftmax + kApartContext,
};

}  // namespace trnsim::frontend
