// Spellings of cross-entropy as programs in HLO, for tests of rewrites.
#pragma once

#include <string>
#include <vector>

namespace trnsim::frontend {

inline constexpr const char* kLossRegions =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    "most {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b)\n}\n";

/// Lines of a program: "x = f32[6,9,40] op" for `of_logits`, "x = f32[6,9] op" for `of_rows`.
inline std::string of_logits(const char* name, const std::string& op) {
  return std::string{name} + " = f32[6,9,40] " + op + "\n";
}
inline std::string of_rows(const char* name, const std::string& op) {
  return std::string{name} + " = f32[6,9] " + op + "\n";
}
inline std::string along(const char* name, const char* of, const char* function) {
  return of_rows(name, "reduce(" + std::string{of} + ", " + (function == std::string{"most"} ? "low" : "zero") +
                           "), dimensions={2}, to_apply=" + function);
}
inline std::string spread(const char* name, const char* of) {
  return of_logits(name, "broadcast(" + std::string{of} + "), dimensions={0,1}");
}

inline const std::string kLogits =
    "x = f32[6,9,40] parameter(0)\nlabels = s32[6,9] parameter(1)\nzero = f32[] constant(0)\n"
    "low = f32[] constant(-inf)\none0 = f32[] constant(1)\none = f32[6,9] broadcast(one0), dimensions={}\n"
    "k0 = f32[] constant(-0.25)\n";
inline const std::string kHot =
    "named = s32[6,9,40] broadcast(labels), dimensions={0,1}\nplace = s32[6,9,40] iota(), iota_dimension=2\n"
    "same = pred[6,9,40] compare(named, place), direction=EQ\nhot = f32[6,9,40] convert(same)\n";
inline const std::string kShifted = along("m", "x", "most") + spread("mm", "m") + of_logits("s", "subtract(x, mm)") +
                                    of_logits("e", "exponential(s)") + along("z", "e", "sum") + of_rows("l", "log(z)");
inline const std::string kBoth = "ROOT out = (f32[6,9], f32[6,9,40]) tuple(loss, dx)";

inline const std::vector<std::string> kLossSpellings = {
    // the logarithm of softmax times one-hot labels; softmax less these, times a number of each row
    kLogits + kHot + kShifted + "g = f32[6,9] parameter(2)\n" + spread("ll", "l") + of_logits("lp", "subtract(s, ll)") +
        of_logits("a", "multiply(lp, hot)") + along("n", "a", "sum") + of_rows("loss", "negate(n)") +
        spread("zz", "z") + of_logits("p", "divide(e, zz)") + of_logits("d", "subtract(p, hot)") + spread("gg", "g") +
        of_logits("dx", "multiply(d, gg)") + kBoth,
    // no maximum; the label's logit is selected; the difference is the other way round, times a constant
    kLogits + kHot + of_logits("e", "exponential(x)") + along("z", "e", "sum") + of_rows("l", "log(z)") +
        of_logits("zeros", "broadcast(zero), dimensions={}") + of_logits("a", "select(same, x, zeros)") +
        along("c", "a", "sum") + of_rows("loss", "subtract(l, c)") + of_rows("o", "divide(one, z)") +
        spread("oo", "o") + of_logits("p", "multiply(e, oo)") + of_logits("d", "subtract(hot, p)") +
        of_logits("k", "broadcast(k0), dimensions={}") + of_logits("dx", "multiply(k, d)") + kBoth,
    // softmax by the logarithm of sums, and one number for all rows
    kLogits + kHot + kShifted + "w = f32[] parameter(2)\n" + of_rows("t", "add(l, m)") + spread("tt", "t") +
        of_logits("lp", "subtract(x, tt)") + of_logits("p", "exponential(lp)") + of_logits("d", "subtract(p, hot)") +
        of_logits("ww", "broadcast(w), dimensions={}") + of_logits("dx", "multiply(ww, d)") +
        of_logits("a", "multiply(x, hot)") + along("c", "a", "sum") + of_rows("loss", "subtract(t, c)") + kBoth,
    // rows whose label is 1 do not count, and how many do is summed over classes: PyTorch's nll_loss
    kLogits + kHot + kShifted +
        "w = f32[] parameter(2)\nskipped0 = s32[] constant(1)\nskipped = s32[6,9] broadcast(skipped0), dimensions={}\n"
        "valid = pred[6,9] compare(labels, skipped), direction=NE\n"
        "wide = pred[6,9,40] broadcast(valid), dimensions={0,1}\nat = pred[6,9,40] and(same, wide)\n" +
        spread("zz", "z") + of_logits("ll", "log(zz)") + of_logits("lp", "subtract(s, ll)") +
        of_logits("zeros", "broadcast(zero), dimensions={}") + of_logits("a", "select(at, lp, zeros)") +
        along("n", "a", "sum") + of_rows("loss", "negate(n)") + of_logits("ww", "broadcast(w), dimensions={}") +
        of_logits("wn", "negate(ww)") + of_logits("d", "select(at, wn, zeros)") + along("ds", "d", "sum") +
        spread("dd", "ds") + of_logits("p", "exponential(lp)") + of_logits("pd", "multiply(p, dd)") +
        of_logits("ones", "broadcast(one0), dimensions={}") + of_logits("c", "select(at, ones, zeros)") +
        along("count", "c", "sum") + of_logits("dx", "subtract(d, pd)") +
        "ROOT out = (f32[6,9], f32[6,9,40], f32[6,9]) tuple(loss, dx, count)",
};

/// Logits that a number of the program divides: so does it what the gradient is of the undivided ones.
inline const std::string kDividedLogits =
    kLogits + kHot + "t0 = f32[] parameter(2)\n" + of_logits("t", "broadcast(t0), dimensions={}") +
    of_logits("q", "divide(x, t)") + along("m", "q", "most") + spread("mm", "m") + of_logits("s", "subtract(q, mm)") +
    of_logits("e", "exponential(s)") + along("z", "e", "sum") + of_rows("l", "log(z)") + spread("ll", "l") +
    of_logits("lp", "subtract(s, ll)") + of_logits("a", "multiply(lp, hot)") + along("n", "a", "sum") +
    of_rows("loss", "negate(n)") + spread("zz", "z") + of_logits("p", "divide(e, zz)") +
    of_logits("d", "subtract(p, hot)") + of_logits("dx", "divide(d, t)") + kBoth;

/// Half of the probabilities; another comparison; labels along another dimension.
inline const std::vector<std::string> kNoLosses = {
    kLogits + kHot + kShifted + "h0 = f32[] constant(0.5)\n" + of_logits("h", "broadcast(h0), dimensions={}") +
        spread("zz", "z") + of_logits("p", "divide(e, zz)") + of_logits("q", "multiply(p, h)") + "ROOT " +
        of_logits("dx", "subtract(q, hot)"),
    kLogits +
        "named = s32[6,9,40] broadcast(labels), dimensions={0,1}\nplace = s32[6,9,40] iota(), iota_dimension=2\n"
        "same = pred[6,9,40] compare(named, place), direction=GE\nhot = f32[6,9,40] convert(same)\n" +
        kShifted + spread("zz", "z") + of_logits("p", "divide(e, zz)") + "ROOT " + of_logits("dx", "subtract(p, hot)"),
    kLogits +
        "named = s32[6,9,40] broadcast(labels), dimensions={0,1}\nplace = s32[6,9,40] iota(), iota_dimension=1\n"
        "same = pred[6,9,40] compare(named, place), direction=EQ\nhot = f32[6,9,40] convert(same)\n" +
        kShifted + spread("zz", "z") + of_logits("p", "divide(e, zz)") + "ROOT " + of_logits("dx", "subtract(p, hot)"),
};

/// Two losses of one form in a program, as where gradients of two batches are accumulated: the count of one's labels
/// comes with the other's logits. The first parameter is the labels of the first.
inline std::string two_losses() {
  std::string out = "zero = f32[] constant(0)\nlow = f32[] constant(-inf)\none0 = f32[] constant(1)\n" +
                    of_logits("zeros", "broadcast(zero), dimensions={}") +
                    of_logits("ones", "broadcast(one0), dimensions={}") +
                    "place = s32[6,9,40] iota(), iota_dimension=2\n";
  const std::string each =
      "labels@ = s32[6,9] parameter(A)\nx@ = f32[6,9,40] parameter(B)\n"
      "named@ = s32[6,9,40] broadcast(labels@), dimensions={0,1}\n"
      "same@ = pred[6,9,40] compare(named@, place), direction=EQ\n" +
      of_logits("c@", "select(same@, ones, zeros)") + along("count@", "c@", "sum") + along("m@", "x@", "most") +
      spread("mm@", "m@") + of_logits("s@", "subtract(x@, mm@)") + of_logits("e@", "exponential(s@)") +
      along("z@", "e@", "sum") + spread("zz@", "z@") + of_logits("ll@", "log(zz@)") +
      of_logits("lp@", "subtract(s@, ll@)") + of_logits("a@", "select(same@, lp@, zeros)") + along("n@", "a@", "sum") +
      of_rows("loss@", "negate(n@)") + of_logits("hot@", "select(same@, ones, zeros)") +
      of_logits("p@", "exponential(lp@)") + of_logits("dx@", "subtract(p@, hot@)");
  for (const int which : {0, 1})
    for (const char letter : each)
      out += letter == '@'                    ? std::to_string(which)
             : letter == 'A' || letter == 'B' ? std::to_string(2 * which + letter - 'A')
                                              : std::string{letter};
  return out +
         "ROOT out = (f32[6,9], f32[6,9,40], f32[6,9], f32[6,9], f32[6,9,40], f32[6,9]) "
         "tuple(loss0, dx0, count0, loss1, dx1, count1)";
}

}  // namespace trnsim::frontend
