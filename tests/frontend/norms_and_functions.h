// Spellings of functions and norms as programs in HLO, for tests of rewrites.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trnsim::frontend {

inline constexpr const char* kSumRegion =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";

using Spelling = std::pair<std::string, std::string>;  // and the custom call that it becomes

/// A constant [40,50] by name.
inline std::string number(const std::string& name, const std::string& value) {
  return name + "0 = f32[] constant(" + value + ")\n" + name + " = f32[40,50] broadcast(" + name +
         "0), dimensions={}\n";
}
/// "y = f32[40,50] op(a)".
inline std::string step(const std::string& name, const std::string& of) { return name + " = f32[40,50] " + of + "\n"; }

inline const std::string kX = "x = f32[40,50] parameter(0)\n", kDy = "d = f32[40,50] parameter(1)\n";

inline const std::vector<Spelling> kFunctionSpellings = {
    // x / 2 * (1 + erf(x / sqrt 2)), and in another order
    {kX + number("h", "0.5") + number("r", "0.707106769") + number("o", "1") + step("a", "multiply(x, r)") +
         step("e", "erf(a)") + step("p", "add(o, e)") + step("q", "multiply(h, p)") + "ROOT " +
         step("y", "multiply(x, q)"),
     "AwsNeuronGelu"},
    {kX + number("t", "2") + number("r", "1.41421354") + number("o", "1") + step("a", "divide(x, r)") +
         step("e", "erf(a)") + step("p", "add(e, o)") + step("q", "multiply(p, x)") + "ROOT " +
         step("y", "divide(q, t)"),
     "AwsNeuronGelu"},
    // by tanh, with the cube as products and by Horner
    {kX + number("k", "0.044715") + number("s", "0.797884583") + number("o", "1") + number("h", "0.5") +
         step("b", "multiply(x, x)") + step("c", "multiply(b, x)") + step("f", "multiply(k, c)") +
         step("g", "add(x, f)") + step("i", "multiply(g, s)") + step("j", "tanh(i)") + step("l", "add(j, o)") +
         step("n", "multiply(l, h)") + "ROOT " + step("y", "multiply(n, x)"),
     "AwsNeuronGeluApprxTanh"},
    {kX + number("k", "0.0356774092") + number("s", "0.797884583") + number("h", "0.5") + step("b", "multiply(x, x)") +
         step("f", "multiply(k, b)") + step("g", "add(s, f)") + step("i", "multiply(g, x)") + step("j", "tanh(i)") +
         step("u", "multiply(x, h)") + step("v", "multiply(u, j)") + "ROOT " + step("y", "add(v, u)"),
     "AwsNeuronGeluApprxTanh"},
    {kX + number("k", "1.702") + step("a", "multiply(k, x)") + step("s", "logistic(a)") + "ROOT " +
         step("y", "multiply(s, x)"),
     "rewrite.gelu_sigmoid"},
    // silu by logistic, and as a quotient
    {kX + step("s", "logistic(x)") + "ROOT " + step("y", "multiply(s, x)"), "AwsNeuronSilu"},
    {kX + number("o", "1") + step("n", "negate(x)") + step("e", "exponential(n)") + step("p", "add(e, o)") + "ROOT " +
         step("y", "divide(x, p)"),
     "AwsNeuronSilu"},
    {kX + number("o", "1") + number("h", "0.5") + step("a", "multiply(h, x)") + step("t", "tanh(a)") +
         step("p", "add(t, o)") + "ROOT " + step("y", "multiply(p, h)"),
     "rewrite.sigmoid"},
    // derivatives times a gradient: PyTorch's s * (1 + x * (1 - s)), and JAX's sum of two
    {kX + kDy + number("o", "1") + step("s", "logistic(x)") + step("a", "subtract(o, s)") +
         step("b", "multiply(x, a)") + step("c", "add(b, o)") + step("f", "multiply(s, c)") + "ROOT " +
         step("y", "multiply(d, f)"),
     "rewrite.silu_grad"},
    {kX + kDy + number("o", "1") + step("s", "logistic(x)") + step("a", "multiply(d, s)") +
         step("b", "multiply(x, d)") + step("c", "subtract(o, s)") + step("f", "multiply(s, c)") +
         step("g", "multiply(b, f)") + "ROOT " + step("y", "add(a, g)"),
     "rewrite.silu_grad"},
    // the gradient is itself a product: all that does not depend on x is one factor
    {kX + kDy + "u = f32[40,50] parameter(2)\n" + number("o", "1") + step("du", "multiply(d, u)") +
         step("s", "logistic(x)") + step("a", "multiply(du, s)") + step("b", "multiply(x, du)") +
         step("c", "subtract(o, s)") + step("f", "multiply(s, c)") + step("g", "multiply(b, f)") + "ROOT " +
         step("y", "add(a, g)"),
     "rewrite.silu_grad"},
    {kX + kDy + number("o", "1") + number("h", "0.5") + number("r", "0.707106769") + number("z", "0.398942292") +
         step("a", "multiply(x, r)") + step("e", "erf(a)") + step("p", "add(o, e)") + step("q", "multiply(h, p)") +
         step("b", "multiply(x, x)") + step("c", "multiply(b, h)") + step("n", "negate(c)") +
         step("f", "exponential(n)") + step("g", "multiply(f, z)") + step("i", "multiply(x, g)") +
         step("j", "add(q, i)") + "ROOT " + step("y", "multiply(d, j)"),
     "rewrite.gelu_grad"},
};

/// Sums of rows of x [4,10,64] as `form` says, and numbers of rows by name.
inline std::string rows(const std::string& name, const std::string& of) {
  return name + " = f32[4,10] reduce(" + of + ", zero), dimensions={2}, to_apply=sum\n";
}
inline std::string column(const std::string& name, const std::string& of) { return name + " = f32[4,10] " + of + "\n"; }
inline std::string whole(const std::string& name, const std::string& of) {
  return name + " = f32[4,10,64] " + of + "\n";
}
inline std::string over(const std::string& name, const std::string& of, const std::string& places) {
  return whole(name, "broadcast(" + of + "), dimensions={" + places + "}");
}
inline const std::string kRows =
    "x = f32[4,10,64] parameter(0)\ng = f32[64] parameter(1)\nb = f32[64] parameter(2)\nzero = f32[] constant(0)\n"
    "n0 = f32[] constant(64)\nn = f32[4,10] broadcast(n0), dimensions={}\n"
    "e0 = f32[] constant(1e-05)\ne = f32[4,10] broadcast(e0), dimensions={}\n" +
    over("gg", "g", "2") + over("bb", "b", "2");
inline const std::string kMean = rows("s", "x") + column("m", "divide(s, n)") + over("mm", "m", "0,1");
inline const std::string kCentred = kMean + whole("c", "subtract(x, mm)") + whole("q", "multiply(c, c)") +
                                    rows("v0", "q") + column("v", "divide(v0, n)") + column("w", "add(v, e)");

inline const std::string kEpsOfData =
    "ed1 = f32[] parameter(3)\ned0 = f32[] logistic(ed1)\ned = f32[4,10] broadcast(ed0), dimensions={}\n";
inline const std::vector<Spelling> kNormSpellings = {
    {kRows + kCentred + column("r", "rsqrt(w)") + over("rr", "r", "0,1") + whole("h", "multiply(c, rr)") +
         whole("k", "multiply(h, gg)") + "ROOT " + whole("y", "add(k, bb)"),
     "trnsim.layernorm"},
    // sqrt and a quotient
    {kRows + kCentred + column("r", "sqrt(w)") + over("rr", "r", "0,1") + whole("h", "divide(c, rr)") +
         whole("k", "multiply(gg, h)") + "ROOT " + whole("y", "add(bb, k)"),
     "trnsim.layernorm"},
    // the mean of squares less the square of the mean; the row's factor and summand first
    {kRows + kMean + whole("q", "multiply(x, x)") + rows("v0", "q") + column("v1", "divide(v0, n)") +
         column("m2", "multiply(m, m)") + column("v", "subtract(v1, m2)") + column("w", "add(v, e)") +
         column("r", "rsqrt(w)") + over("rr", "r", "0,1") + whole("f", "multiply(rr, gg)") +
         whole("u", "multiply(mm, f)") + whole("t", "subtract(bb, u)") + whole("k", "multiply(x, f)") + "ROOT " +
         whole("y", "add(k, t)"),
     "trnsim.layernorm"},
    {kRows + whole("q", "multiply(x, x)") + rows("v0", "q") + column("v", "divide(v0, n)") + column("w", "add(v, e)") +
         column("r", "rsqrt(w)") + over("rr", "r", "0,1") + whole("h", "multiply(x, rr)") + "ROOT " +
         whole("y", "multiply(gg, h)"),
     "trnsim.rmsnorm"},
    // eps is data
    {kRows + kEpsOfData + kCentred + column("we", "add(v, ed)") + column("r", "rsqrt(we)") + over("rr", "r", "0,1") +
         whole("h", "multiply(c, rr)") + whole("k", "multiply(h, gg)") + "ROOT " + whole("y", "add(k, bb)"),
     "trnsim.layernorm"},
    {kRows + kEpsOfData + whole("q", "multiply(x, x)") + rows("v0", "q") + column("v", "divide(v0, n)") +
         column("w", "add(ed, v)") + column("r", "sqrt(w)") + over("rr", "r", "0,1") + "ROOT " +
         whole("y", "divide(x, rr)"),
     "trnsim.rmsnorm"},
    // without a gain, by a power
    {kRows + whole("q", "multiply(x, x)") + rows("v0", "q") + column("v", "divide(v0, n)") + column("w", "add(v, e)") +
         "p0 = f32[] constant(-0.5)\np = f32[4,10] broadcast(p0), dimensions={}\n" + column("r", "power(w, p)") +
         over("rr", "r", "0,1") + "ROOT " + whole("y", "multiply(x, rr)"),
     "trnsim.rmsnorm"},
};

inline const std::string kNormed = kRows + "d = f32[4,10,64] parameter(3)\n";
inline const std::string kRmsForward =
    kNormed + whole("q", "multiply(x, x)") + rows("v0", "q") + column("v", "divide(v0, n)") + column("w", "add(v, e)") +
    column("r", "rsqrt(w)") + over("rr", "r", "0,1") + whole("h", "multiply(x, rr)") + whole("y", "multiply(gg, h)");
/// The sum over a row of x times the gradient, times the cube of the deviation.
inline const std::string kRmsSum = rows("t", "xg") + column("r2", "multiply(r, r)") + column("r3", "multiply(r2, r)") +
                                   column("tr", "multiply(t, r3)") + column("tn", "divide(tr, n)") +
                                   over("tt", "tn", "0,1") + whole("xt", "multiply(x, tt)");
inline const std::string kNormAndGradient = "ROOT out = (f32[4,10,64], f32[4,10,64]) tuple(y, dx)";
inline const std::string kLayerForward = kNormed + kCentred + column("r", "rsqrt(w)") + over("rr", "r", "0,1") +
                                         whole("h", "multiply(c, rr)") + whole("k", "multiply(h, gg)") +
                                         whole("y", "add(k, bb)");
/// Sums of the gradient and of it times the normal values, over rows.
inline const std::string kLayerSums =
    whole("gd", "multiply(d, gg)") + rows("s1", "gd") + whole("hg", "multiply(h, gd)") + rows("s2", "hg");
/// A number of data by name, for all elements and for all rows.
inline std::string datum(const std::string& name, int parameter) {
  return name + " = f32[] parameter(" + std::to_string(parameter) + ")\n" + over(name + "w", name, "") +
         column(name + "c", "broadcast(" + name + "), dimensions={}");
}

/// Norms with the gradient for x, as differentiation writes it and by the normal values.
inline const std::vector<std::pair<std::string, std::vector<std::string>>> kNormGradients = {
    {kRmsForward + whole("gd", "multiply(d, gg)") + whole("xg", "multiply(x, gd)") + kRmsSum +
         whole("gr", "multiply(gd, rr)") + whole("dx", "subtract(gr, xt)") + kNormAndGradient,
     {"trnsim.rmsnorm", "trnsim.rmsnorm_grad"}},
    // the other gradient is a sum
    {kRmsForward + "d2 = f32[4,10,64] parameter(4)\n" + whole("ds", "add(d, d2)") + whole("gd", "multiply(gg, ds)") +
         whole("xg", "multiply(gd, x)") + kRmsSum + whole("gr", "multiply(rr, gd)") + whole("xm", "negate(xt)") +
         whole("dx", "add(xm, gr)") + kNormAndGradient,
     {"trnsim.rmsnorm", "trnsim.rmsnorm_grad"}},
    // a residual's gradient is added, and an exponent and the count of columns are data
    {kRmsForward +
         "d2 = f32[4,10,64] parameter(4)\nf1 = f32[] parameter(5)\nf0 = f32[] logistic(f1)\nf = f32[4,10] "
         "broadcast(f0), "
         "dimensions={}\nf2 = f32[] parameter(6)\nf3 = f32[4,10,64] broadcast(f2), dimensions={}\n" +
         whole("gd", "multiply(gg, d)") + whole("xg", "multiply(gd, x)") + rows("t", "xg") +
         column("r2", "multiply(r, r)") + column("r3", "multiply(r2, r)") + column("tr", "multiply(t, r3)") +
         column("tn", "divide(tr, f)") + over("tt", "tn", "0,1") + whole("x2", "multiply(x, f3)") +
         whole("xt", "multiply(x2, tt)") + whole("gr", "multiply(rr, gd)") + whole("a1", "add(d2, gr)") +
         whole("dx", "add(a1, xt)") + kNormAndGradient,
     {"trnsim.rmsnorm", "trnsim.rmsnorm_grad"}},
    {kLayerForward + kLayerSums + column("m1", "divide(s1, n)") + over("mm1", "m1", "0,1") +
         column("m3", "divide(s2, n)") + over("mm3", "m3", "0,1") + whole("hm", "multiply(h, mm3)") +
         whole("a1", "subtract(gd, mm1)") + whole("a2", "subtract(a1, hm)") + whole("dx", "multiply(a2, rr)") +
         kNormAndGradient,
     {"trnsim.layernorm", "trnsim.layernorm_grad"}},
    // the count of columns is data, in two broadcasts of one number, as PyTorch's decomposition has it
    {kLayerForward + kLayerSums + datum("f", 4) + whole("a", "multiply(fw, gd)") + over("b1", "s1", "0,1") +
         over("b2", "s2", "0,1") + whole("c3", "multiply(b2, h)") + whole("a1", "subtract(a, b1)") +
         whole("a2", "subtract(a1, c3)") + column("rn", "divide(r, fc)") + over("rf", "rn", "0,1") +
         whole("dx", "multiply(rf, a2)") + kNormAndGradient,
     {"trnsim.layernorm", "trnsim.layernorm_grad"}},
    // each mean has a number of its own, one of them times a constant
    {kLayerForward + kLayerSums + datum("f", 4) + datum("t", 5) + "h2 = f32[] constant(0.5)\n" +
         column("hc", "broadcast(h2), dimensions={}") + column("m1", "divide(s1, fc)") + over("b1", "m1", "0,1") +
         column("m2", "multiply(s2, tc)") + column("m4", "multiply(m2, hc)") + over("b2", "m4", "0,1") +
         whole("c3", "multiply(h, b2)") + whole("a1", "add(c3, b1)") + whole("a2", "subtract(gd, a1)") +
         whole("dx", "multiply(rr, a2)") + kNormAndGradient,
     {"trnsim.layernorm", "trnsim.layernorm_grad"}},
    // the root of a number of data is no power of it
    {kLayerForward + kLayerSums + datum("f", 4) + column("q1", "sqrt(fc)") + column("m1", "divide(s1, q1)") +
         over("b1", "m1", "0,1") + column("m2", "divide(s2, q1)") + over("b2", "m2", "0,1") +
         whole("c3", "multiply(h, b2)") + whole("a1", "add(c3, b1)") + whole("a2", "subtract(gd, a1)") +
         whole("dx", "multiply(rr, a2)") + kNormAndGradient,
     {"trnsim.layernorm"}},
    // another sign is no gradient
    {kRmsForward + whole("gd", "multiply(d, gg)") + whole("xg", "multiply(x, gd)") + kRmsSum +
         whole("gr", "multiply(gd, rr)") + whole("dx", "add(gr, xt)") + kNormAndGradient,
     {"trnsim.rmsnorm"}},
};

/// Expressions that are nearly one of them: another constant, a wrong factor, a sum over other rows, a variance of n
/// - 1.
inline const std::vector<std::string> kNearMisses = {
    kX + number("k", "1.6") + step("a", "multiply(k, x)") + step("s", "logistic(a)") + "ROOT " +
        step("y", "multiply(s, x)"),
    kX + number("h", "0.5") + number("r", "0.70") + number("o", "1") + step("a", "multiply(x, r)") +
        step("e", "erf(a)") + step("p", "add(o, e)") + step("q", "multiply(h, p)") + "ROOT " +
        step("y", "multiply(x, q)"),
    kX + kDy + step("s", "logistic(x)") + "ROOT " + step("y", "multiply(s, d)"),
    kX + number("z", "6") + step("s", "exponential(x)") + step("a", "minimum(s, z)") + "ROOT " +
        step("y", "multiply(x, a)"),
    kRows + "l0 = f32[] constant(63)\nl = f32[4,10] broadcast(l0), dimensions={}\n" + kMean +
        whole("c", "subtract(x, mm)") + whole("q", "multiply(c, c)") + rows("v0", "q") + column("v", "divide(v0, l)") +
        column("w", "add(v, e)") + column("r", "rsqrt(w)") + over("rr", "r", "0,1") + whole("h", "multiply(c, rr)") +
        "ROOT " + whole("y", "multiply(h, gg)"),
    kRows + kCentred + column("r", "rsqrt(w)") + over("rr", "r", "0,1") + "ROOT " + whole("h", "multiply(x, rr)"),
    // the gain is made of the deviation
    kRows + kMean + whole("c", "subtract(x, mm)") + whole("q", "multiply(c, c)") + rows("v0", "q") +
        column("v", "divide(v0, n)") + column("w", "add(v, e)") + column("r", "rsqrt(w)") + over("rr", "r", "0,1") +
        "i = f32[] reduce(r, zero), dimensions={0,1}, to_apply=sum\ni2 = f32[64] broadcast(i), dimensions={}\n" +
        over("ii", "i2", "2") + whole("f", "multiply(rr, ii)") + "ROOT " + whole("y", "multiply(c, f)"),
};

}  // namespace trnsim::frontend
