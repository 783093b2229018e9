// Spellings of optimizers as programs in HLO, for tests of rewrites.
#pragma once

#include <string>
#include <vector>

namespace trnsim::frontend {

/// A parameter, its gradient and its moments [6,40]: w, g, m, v.
inline const std::string kUpdated =
    "w = f32[6,40] parameter(0)\ng = f32[6,40] parameter(1)\nm = f32[6,40] parameter(2)\nv0 = f32[6,40] "
    "parameter(3)\nv = f32[6,40] abs(v0)\n";

/// A number for all elements: one between 0 and 1 by parameter `i`, or a constant.
inline std::string of_data(const std::string& name, int i) {
  return name + "00 = f32[] parameter(" + std::to_string(i) + ")\n" + name + "0 = f32[] logistic(" + name + "00)\n" +
         name + " = f32[6,40] broadcast(" + name + "0), dimensions={}\n";
}
inline std::string of_number(const std::string& name, const std::string& number) {
  return name + "0 = f32[] constant(" + number + ")\n" + name + " = f32[6,40] broadcast(" + name +
         "0), dimensions={}\n";
}
/// The operation of two tensors.
inline std::string with(const std::string& name, const std::string& op, const std::string& a, const std::string& b) {
  return name + " = f32[6,40] " + op + "(" + a + ", " + b + ")\n";
}
inline std::string root_of(const std::string& name, const std::string& a) {
  return name + " = f32[6,40] sqrt(" + a + ")\n";
}
inline const std::string kAllThree = "ROOT o = (f32[6,40], f32[6,40], f32[6,40]) tuple(w1, m1, v1)";

/// PyTorch's AdamW, each number of it data; of the gradient `g`.
inline std::string torch_adamw(const std::string& g) {
  return of_data("a", 4) + of_data("b", 5) + of_data("c", 6) + of_data("d", 7) + of_data("r", 8) + of_data("e", 9) +
         of_data("k", 10) + of_data("s", 11) + with("w0", "multiply", "w", "k") + with("ma", "multiply", "m", "a") +
         with("gb", "multiply", g, "b") + with("m1", "add", "ma", "gb") + with("vc", "multiply", "v", "c") +
         with("gg", "multiply", g, g) + with("gd", "multiply", "gg", "d") + with("v1", "add", "vc", "gd") +
         root_of("x", "v1") + with("y", "divide", "x", "r") + with("z", "add", "y", "e") +
         with("t", "divide", "m1", "z") + with("u", "multiply", "t", "s") + with("w1", "add", "w0", "u") + kAllThree;
}

/// As optax has it: moments without their bias, decay beside them, the step at the end; `two` multiplies in each order.
inline const std::string kOptax =
    kUpdated + of_number("a", "0.9") + of_number("b", "0.1") + of_number("c", "0.999") + of_number("d", "0.001") +
    of_data("p", 4) + of_data("q", 5) + of_number("e", "1e-6") + of_number("l", "-0.01") + of_number("k", "0.1") +
    of_number("two", "2") + with("gb", "multiply", "b", "g") + with("ma", "multiply", "a", "m") +
    with("m1", "add", "gb", "ma") + with("gg", "power", "g", "two") + with("gd", "multiply", "d", "gg") +
    with("vc", "multiply", "c", "v") + with("v1", "add", "gd", "vc") + with("mh", "divide", "m1", "p") +
    with("vh", "divide", "v1", "q") + root_of("x", "vh") + with("z", "add", "x", "e") + with("t", "divide", "mh", "z") +
    with("kw", "multiply", "k", "w") + with("tt", "add", "t", "kw") + with("u", "multiply", "l", "tt") +
    with("w1", "add", "w", "u") + kAllThree;

/// Moments moved towards the gradient (lerp), and a product with a reciprocal in the place of a quotient.
inline const std::string kLerp =
    kUpdated + of_data("b", 4) + of_data("d", 5) + of_number("e", "1e-8") + of_data("l", 6) + of_number("h", "0.5") +
    of_number("one", "1") + with("gm", "subtract", "g", "m") + with("gb", "multiply", "gm", "b") +
    with("m1", "add", "m", "gb") + with("gg", "multiply", "g", "g") + with("gv", "subtract", "gg", "v") +
    with("gd", "multiply", "d", "gv") + with("v1", "add", "gd", "v") + with("x", "power", "v1", "h") +
    with("z", "add", "e", "x") + with("i", "divide", "one", "z") + with("t", "multiply", "i", "m1") +
    with("u", "multiply", "l", "t") + with("w1", "subtract", "w", "u") + kAllThree;

/// RMSprop, and Adagrad, whose sum of squares forgets nothing.
inline std::string by_root(const std::string& kept) {
  return kUpdated + of_number("c", kept) + of_data("d", 4) + of_number("e", "1e-5") + of_data("l", 5) +
         with("vc", "multiply", "v", "c") + with("gg", "multiply", "g", "g") + with("gd", "multiply", "gg", "d") +
         with("v1", "add", "vc", "gd") + root_of("x", "v1") + with("z", "add", "x", "e") +
         with("t", "divide", "g", "z") + with("u", "multiply", "t", "l") + with("w1", "subtract", "w", "u") +
         "ROOT o = (f32[6,40], f32[6,40], f32[6,40]) tuple(w1, m, v1)";
}

inline const std::vector<std::string> kUpdateSpellings = {
    kUpdated + torch_adamw("g"),
    // decay is part of the gradient, and the gradient is scaled first
    kUpdated + of_data("f", 12) + with("fw", "multiply", "w", "f") + with("gw", "add", "g", "fw") + torch_adamw("gw"),
    kUpdated + of_data("f", 12) + with("gf", "multiply", "g", "f") + torch_adamw("gf"),
    kOptax,
    kLerp,
    by_root("0.99"),
    by_root("1"),
};

/// Gradient descent with momentum, with decay in the gradient, and with a look ahead; results take parameters' memory.
inline const std::string kMomentumHead =
    "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, may-alias) }\n";
inline std::string momentum(const std::string& g, const std::string& step) {
  return kUpdated + of_data("a", 4) + of_number("b", "1") + of_data("l", 5) + of_data("f", 6) +
         with("fw", "multiply", "w", "f") + with("gw", "add", "g", "fw") + with("ma", "multiply", "m", "a") +
         with("m1", "add", "ma", g) + with("am", "multiply", "m1", "a") + with("n", "add", g, "am") +
         with("u", "multiply", "l", step) + with("w1", "subtract", "w", "u") +
         "ROOT o = (f32[6,40], f32[6,40]) tuple(w1, m1)";
}
/// Descent alone: the weight less the gradient times a rate; where it decays, part of the gradient is the weight's.
inline std::string descent(const std::string& g) {
  const std::string decay = of_number("f", "0.01") + with("fw", "multiply", "w", "f") + with("gw", "add", "g", "fw");
  return kUpdated + (g == "gw" ? decay : "") + of_data("l", 4) + with("u", "multiply", g, "l") +
         with("w1", "subtract", "w", "u") + "ROOT o = (f32[6,40], f32[6,40], f32[6,40]) tuple(w1, m, v)";
}
inline const std::vector<std::string> kMomentumSpellings = {
    momentum("g", "m1"), momentum("gw", "m1"), momentum("g", "n"), momentum("gw", "n"), descent("g"), descent("gw")};

/// The largest second moment so far; eps within the root; a first moment of another gradient.
inline const std::vector<std::string> kNoUpdates = {
    kUpdated + of_number("c", "0.99") + of_number("e", "1e-5") + with("vc", "multiply", "v", "c") +
        with("gg", "multiply", "g", "g") + with("v1", "add", "vc", "gg") + with("most", "maximum", "v1", "m") +
        root_of("x", "most") + with("z", "add", "x", "e") + with("t", "divide", "g", "z") +
        with("w1", "subtract", "w", "t") + "ROOT o = (f32[6,40], f32[6,40]) tuple(w1, v1)",
    kUpdated + of_number("c", "0.99") + of_number("e", "1e-5") + with("vc", "multiply", "v", "c") +
        with("gg", "multiply", "g", "g") + with("v1", "add", "vc", "gg") + with("ve", "add", "v1", "e") +
        root_of("x", "ve") + with("t", "divide", "g", "x") + with("w1", "subtract", "w", "t") +
        "ROOT o = (f32[6,40], f32[6,40]) tuple(w1, v1)",
    kUpdated + of_number("c", "0.99") + of_number("e", "1e-5") + with("vc", "multiply", "v", "c") +
        with("gg", "multiply", "g", "g") + with("v1", "add", "vc", "gg") + root_of("x", "v1") +
        with("z", "add", "x", "e") + "h = f32[6,40] parameter(4)\n" + with("mc", "multiply", "m", "c") +
        with("m1", "add", "mc", "h") + with("t", "divide", "m1", "z") + with("w1", "subtract", "w", "t") + kAllThree,
};

}  // namespace trnsim::frontend
