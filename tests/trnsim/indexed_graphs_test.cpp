// Gathers, scatters and slices of random form, on a simulated core and by the interpreter, which knows nothing of the
// lowering.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "frontend/stablehlo/reader.h"
#include "hw/params.h"
#include "trnsim/graphs/graph_run.h"

namespace trnsim {
namespace {

using frontend::Dims;
using frontend::Ints;
using frontend::Value;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_{seed} {}

  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool coin() { return in(0, 1) == 1; }
  Dims dims(std::int64_t rank, std::int64_t most) {
    Dims out;
    for (std::int64_t d = 0; d < rank; ++d) out.push_back(in(1, most));
    return out;
  }
  /// `count` of 0 .. below, in random order.
  Ints some(std::int64_t count, std::int64_t below) {
    Ints all(static_cast<std::size_t>(below));
    std::iota(all.begin(), all.end(), 0);
    std::ranges::shuffle(all, random_);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }
  Value value(const frontend::Type& type, std::int64_t most) {
    const auto count = static_cast<std::size_t>(frontend::element_count(type.dims));
    if (is_float(type.element)) {
      frontend::Reals numbers(count);
      for (double& x : numbers) x = static_cast<double>(in(-100, 100)) / 8;
      return frontend::value_of(type, std::move(numbers));
    }
    frontend::Integers numbers(count);
    for (std::int64_t& x : numbers) x = in(-1, most);
    return frontend::value_of(type, std::move(numbers));
  }

 private:
  std::mt19937 random_;
};

std::string tensor(const Dims& dims, std::string_view element) {
  std::string out = "tensor<";
  for (const std::int64_t d : dims) out += fmt::format("{}x", d);
  return fmt::format("{}{}>", out, element);
}

bool has(const Ints& all, std::int64_t one) { return std::ranges::find(all, one) != all.end(); }

/// How windows of a table are named: common to gather and scatter.
struct Form {
  Dims table, sizes, ids;  // sizes: of the window
  Ints named, dropped, batching, ids_batching;
  std::int64_t vector_dim = 0;
  Dims batch;          // ids without vectors
  Dims window;         // sizes without dropped and batching ones
  Ints window_places;  // in the result or the updates
  Dims outcome;        // of the result or the updates

  explicit Form(Draw& draw) : table{draw.dims(draw.in(1, 4), 5)}, sizes(table.size(), 1) {
    const auto rank = static_cast<std::int64_t>(table.size());
    batch = draw.dims(draw.in(0, 2), 3);
    if (rank > 1 && !batch.empty() && draw.coin()) {
      batching = {draw.in(0, rank - 1)}, ids_batching = {draw.in(0, static_cast<std::int64_t>(batch.size()) - 1)};
      batch[static_cast<std::size_t>(ids_batching[0])] = table[static_cast<std::size_t>(batching[0])];
    }
    Ints free;
    for (const std::int64_t d : draw.some(rank, rank))
      if (!has(batching, d)) free.push_back(d);
    named.assign(free.begin(), free.begin() + draw.in(1, static_cast<std::int64_t>(free.size())));
    for (std::int64_t d = 0; d < rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      if (has(batching, d)) continue;
      if (draw.coin() && has(named, d)) {
        dropped.push_back(d);
      } else {
        sizes[at] = has(named, d) ? draw.in(1, table[at]) : table[at];
        window.push_back(sizes[at]);
      }
    }
    place_vectors(draw);
    place_windows(draw);
  }

 private:
  void place_vectors(Draw& draw) {
    vector_dim = draw.in(0, static_cast<std::int64_t>(batch.size()));
    ids = batch;
    ids.insert(ids.begin() + vector_dim, static_cast<std::int64_t>(named.size()));
    for (std::int64_t& d : ids_batching) d += d >= vector_dim ? 1 : 0;
  }
  void place_windows(Draw& draw) {
    const auto rank = static_cast<std::int64_t>(batch.size() + window.size());
    window_places = draw.some(static_cast<std::int64_t>(window.size()), rank);
    std::ranges::sort(window_places);
    std::size_t w = 0, b = 0;
    for (std::int64_t d = 0; d < rank; ++d) outcome.push_back(has(window_places, d) ? window[w++] : batch[b++]);
  }
};

std::string list(std::string_view name, const Ints& values) {
  return values.empty() ? "" : fmt::format("{} = [{}], ", name, fmt::join(values, ", "));
}

std::string gather_text(const Form& f) {
  return fmt::format(
      "func.func @main(%x: {0}, %i: {1}) -> {2} {{\n  %y = \"stablehlo.gather\"(%x, %i) <{{dimension_numbers = "
      "#stablehlo.gather<{3}{4}{5}{6}{7}index_vector_dim = {8}>, slice_sizes = array<i64: {9}>}}> : ({0}, {1}) -> {2}\n"
      "  return %y : {2}\n}}\n",
      tensor(f.table, "f32"), tensor(f.ids, "i32"), tensor(f.outcome, "f32"), list("offset_dims", f.window_places),
      list("collapsed_slice_dims", f.dropped), list("operand_batching_dims", f.batching),
      list("start_indices_batching_dims", f.ids_batching), list("start_index_map", f.named), f.vector_dim,
      fmt::join(f.sizes, ", "));
}

std::string scatter_text(const Form& f, std::string_view function) {
  const std::string result = function.empty() ? "%b" : "%c";
  const std::string body =
      function.empty() ? "" : fmt::format("      %c = stablehlo.{} %a, %b : tensor<f32>\n", function);
  return fmt::format(
      "func.func @main(%x: {0}, %i: {1}, %u: {2}) -> {0} {{\n  %y = \"stablehlo.scatter\"(%x, %i, %u) "
      "<{{scatter_dimension_numbers = #stablehlo.scatter<{3}{4}{5}{6}{7}index_vector_dim = {8}>}}> ({{\n"
      "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n{9}      stablehlo.return {10} : tensor<f32>\n"
      "  }}) : ({0}, {1}, {2}) -> {0}\n  return %y : {0}\n}}\n",
      tensor(f.table, "f32"), tensor(f.ids, "i32"), tensor(f.outcome, "f32"),
      list("update_window_dims", f.window_places), list("inserted_window_dims", f.dropped),
      list("input_batching_dims", f.batching), list("scatter_indices_batching_dims", f.ids_batching),
      list("scatter_dims_to_operand_dims", f.named), f.vector_dim, body, result);
}

void expect_reference(const std::string& text, Draw& draw) {
  const frontend::Module module = frontend::read_stablehlo(text, "m");
  std::vector<Value> inputs;
  for (const frontend::Type& type : module.entry_function().parameter_types()) inputs.push_back(draw.value(type, 5));
  const frontend::LoweredGraph lowered = frontend::lower(module);
  EXPECT_TRUE(lowered.timed_only.empty()) << text;
  for (const OutputError& one : compare_with_reference(module, lowered, hw::load_machine("trn1.2xlarge"), inputs))
    EXPECT_TRUE(one.within) << text << one.name << " " << one.type << " is off by " << one.error;
}

TEST(IndexedGraphs, GathersOfAnyForm) {
  Draw draw{1};
  for (int i = 0; i < 60; ++i) expect_reference(gather_text(Form{draw}), draw);
}

TEST(IndexedGraphs, ScattersOfAnyForm) {
  Draw draw{2};
  for (const char* function : {"", "add", "maximum", "multiply", "subtract"})
    for (int i = 0; i < 16; ++i) expect_reference(scatter_text(Form{draw}, function), draw);
}

TEST(IndexedGraphs, SlicesAtComputedPlaces) {
  Draw draw{3};
  for (int i = 0; i < 40; ++i) {
    const Dims table = draw.dims(draw.in(1, 4), 6);
    Dims part;
    std::string names, types, given;
    for (std::size_t d = 0; d < table.size(); ++d) {
      part.push_back(draw.in(1, table[d]));
      names += fmt::format(", %i{}", d), types += ", tensor<i32>", given += fmt::format(", %i{}: tensor<i32>", d);
    }
    const std::string x = tensor(table, "f32"), u = tensor(part, "f32");
    expect_reference(fmt::format("func.func @main(%x: {0}{3}) -> {1} {{\n  %y = stablehlo.dynamic_slice %x{4}, sizes = "
                                 "[{2}] : ({0}{5}) -> {1}\n  return %y : {1}\n}}\n",
                                 x, u, fmt::join(part, ", "), given, names, types),
                     draw);
    expect_reference(
        fmt::format("func.func @main(%x: {0}, %u: {1}{2}) -> {0} {{\n  %y = "
                    "stablehlo.dynamic_update_slice %x, %u{3} : ({0}, {1}{4}) -> {0}\n  return %y : {0}\n}}\n",
                    x, u, given, names, types),
        draw);
  }
}

// One after the other, each place known: runs of elements, and parts with gaps. Earlier results are read too.
TEST(IndexedGraphs, UpdatesAtConstantPlaces) {
  Draw draw{5};
  for (int i = 0; i < 40; ++i) {
    const Dims table = draw.dims(draw.in(1, 3), 6);
    const std::string x = tensor(table, "f32");
    std::string given, body, last = "%x";
    for (int k = 0; k < 3; ++k) {
      Dims part;
      std::string places, types;
      for (std::size_t d = 0; d < table.size(); ++d) {
        part.push_back(draw.in(1, table[d]));
        const std::string place = fmt::format("%p{}_{}", k, d);
        body += fmt::format("  {} = stablehlo.constant dense<{}> : tensor<i32>\n", place, draw.in(0, table[d]));
        places += ", " + place, types += ", tensor<i32>";
      }
      const std::string u = tensor(part, "f32");
      given += fmt::format(", %u{}: {}", k, u);
      body += fmt::format("  %y{0} = stablehlo.dynamic_update_slice {1}, %u{0}{2} : ({3}, {4}{5}) -> {3}\n", k, last,
                          places, x, u, types);
      last = fmt::format("%y{}", k);
    }
    expect_reference(fmt::format("func.func @main(%x: {0}{1}) -> ({0}, {0}) {{\n{2}"
                                 "  %s = stablehlo.add %y0, %y1 : {0}\n"
                                 "  return %y2, %s : {0}, {0}\n}}\n",
                                 x, given, body),
                     draw);
  }
}

// Memory that is written in place is read under another name before: the two must not change places.
TEST(IndexedGraphs, WritesInPlaceKeepWhatIsReadLater) {
  Draw draw{4};
  expect_reference(
      "func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>) {\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n  %o = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %c = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>\n"
      "  %w = stablehlo.slice %c [2:6, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>\n"
      "  %a = stablehlo.slice %w [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>\n"
      "  %b = stablehlo.slice %w [1:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>\n"
      "  %v = stablehlo.dynamic_update_slice %w, %b, %z, %z : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, "
      "tensor<i32>) -> tensor<4x8xf32>\n"
      "  %u = stablehlo.dynamic_update_slice %v, %a, %o, %z : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, "
      "tensor<i32>) -> tensor<4x8xf32>\n"
      "  %t = stablehlo.slice %v [1:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>\n"
      "  %s = stablehlo.slice %u [1:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>\n"
      "  %r = stablehlo.add %t, %s : tensor<1x8xf32>\n"
      "  return %u, %r : tensor<4x8xf32>, tensor<1x8xf32>\n}\n",
      draw);
}

// Rows of a table by one-hot products, in both orders of the operands, and sums by the transposed one. Indices from -1,
// one more than the table has: they name no row.
TEST(IndexedGraphs, ProductsWithOneHotRows) {
  Draw draw{5};
  const std::string hot =
      "  %i = stablehlo.iota dim = 2 : tensor<3x5x150xi32>\n"
      "  %b = stablehlo.broadcast_in_dim %ids, dims = [0, 1] : (tensor<3x5xi32>) -> tensor<3x5x150xi32>\n"
      "  %e = stablehlo.compare EQ, %b, %i : (tensor<3x5x150xi32>, tensor<3x5x150xi32>) -> tensor<3x5x150xi1>\n"
      "  %h = stablehlo.convert %e : (tensor<3x5x150xi1>) -> tensor<3x5x150xf32>\n";
  expect_reference(
      "func.func @main(%ids: tensor<3x5xi32>, %t: tensor<150x7xf32>, %d: tensor<3x5x7xf32>) -> "
      "(tensor<3x5x7xf32>, tensor<7x3x5xf32>, tensor<150x7xf32>, tensor<7x150xf32>) {\n" +
          hot +
          "  %y = stablehlo.dot_general %h, %t, contracting_dims = [2] x [0] : (tensor<3x5x150xf32>, "
          "tensor<150x7xf32>) -> tensor<3x5x7xf32>\n"
          "  %z = stablehlo.dot_general %t, %h, contracting_dims = [0] x [2] : (tensor<150x7xf32>, "
          "tensor<3x5x150xf32>) -> tensor<7x3x5xf32>\n"
          "  %w = stablehlo.dot_general %h, %d, contracting_dims = [1, 0] x [1, 0] : "
          "(tensor<3x5x150xf32>, tensor<3x5x7xf32>) -> tensor<150x7xf32>\n"
          "  %v = stablehlo.dot_general %d, %h, contracting_dims = [0, 1] x [0, 1] : "
          "(tensor<3x5x7xf32>, tensor<3x5x150xf32>) -> tensor<7x150xf32>\n"
          "  return %y, %z, %w, %v : tensor<3x5x7xf32>, tensor<7x3x5xf32>, tensor<150x7xf32>, "
          "tensor<7x150xf32>\n}\n",
      draw);
}

// Slices whose place is data of tables that one transfer does not reach: a few of their runs have ids.
TEST(IndexedGraphs, SlicesOfTablesBeyondTheReachOfATransfer) {
  Draw draw{6};
  expect_reference(
      "func.func @main(%x: tensor<300x2048xf32>, %u: tensor<300x40xf32>, %p: tensor<i32>) -> (tensor<300x40xf32>, "
      "tensor<300x2048xf32>) {\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n  %c = stablehlo.constant dense<100> : tensor<i32>\n"
      "  %q = stablehlo.multiply %p, %c : tensor<i32>\n"
      "  %s = stablehlo.dynamic_slice %x, %z, %q, sizes = [300, 40] : (tensor<300x2048xf32>, tensor<i32>, tensor<i32>) "
      "-> tensor<300x40xf32>\n"
      "  %w = stablehlo.dynamic_update_slice %x, %u, %z, %q : (tensor<300x2048xf32>, tensor<300x40xf32>, tensor<i32>, "
      "tensor<i32>) -> tensor<300x2048xf32>\n"
      "  return %s, %w : tensor<300x40xf32>, tensor<300x2048xf32>\n}\n",
      draw);
}

}  // namespace
}  // namespace trnsim
