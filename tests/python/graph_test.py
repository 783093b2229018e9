"""trnsim.Graph: programs of other frameworks computed and timed on simulated cores."""
import math
import pathlib
import tempfile
import unittest

import numpy

import trnsim
from trnsim import _core


def program(body, inputs, result):
    names = ", ".join(f"%a{i}: tensor<{t}>" for i, t in enumerate(inputs))
    return f"func.func @main({names}) -> tensor<{result}> {{\n{body}\n  return %r : tensor<{result}>\n}}\n"


class GraphTest(unittest.TestCase):
    def test_numbers_and_time(self):
        text = program("  %r = stablehlo.dot %a0, %a1 : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>",
                       ["128x64xf32", "64x32xf32"], "128x32xf32")
        graph = trnsim.Graph(text)
        x = numpy.random.default_rng(1).normal(size=(128, 64)).astype("float32")
        w = numpy.random.default_rng(2).normal(size=(64, 32)).astype("float32")
        for scale in (1, 2):  # compiled once, computed again
            y, = graph(scale * x, w)
            numpy.testing.assert_allclose(y, scale * x @ w, rtol=1e-4, atol=1e-4)
        self.assertEqual(graph.flops, 2 * 128 * 64 * 32)
        self.assertGreater(graph.seconds, 1e-7)
        self.assertEqual(graph.timed_only, [])

    def test_whole_numbers_keep_their_bits(self):
        text = program("  %r = stablehlo.reverse %a0, dims = [0] : tensor<4xui32>", ["4xui32"], "4xui32")
        values = numpy.array([4294967295, 16777217, 0, 123456789], "uint32")
        (result,), seconds = trnsim.run_graph(text, values)
        numpy.testing.assert_array_equal(result, values[::-1])
        self.assertGreater(seconds, 0)

    def test_a_product_of_one_column_is_a_factor_of_wider_rows(self):
        for rows, columns in ((2, 4), (130, 600)):
            wide = f"{rows}x{columns}xf32"
            text = program(f"""  %s = stablehlo.dot %a0, %a1 : (tensor<{wide}>, tensor<{columns}xf32>)
    -> tensor<{rows}xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<{rows}xf32>) -> tensor<{wide}>
  %r = stablehlo.divide %a0, %b : tensor<{wide}>""", [wide, f"{columns}xf32"], wide)
            draw = numpy.random.default_rng(1)
            x, w = (draw.uniform(1, 2, size).astype("float32") for size in ((rows, columns), columns))
            (y,), _ = trnsim.run_graph(text, x, w)
            numpy.testing.assert_allclose(y, x / (x @ w)[:, None], rtol=1e-5)

    def test_a_column_is_added_to_the_last_of_513_columns(self):
        text = program("""  %s = stablehlo.dot %a0, %a1 : (tensor<5x3xf32>, tensor<3x513xf32>) -> tensor<5x513xf32>
  %b = stablehlo.broadcast_in_dim %a2, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x513xf32>
  %r = stablehlo.add %s, %b : tensor<5x513xf32>""", ["5x3xf32", "3x513xf32", "5x1xf32"], "5x513xf32")
        draw = numpy.random.default_rng(1)
        x, w, b = (draw.uniform(1, 2, size).astype("float32") for size in ((5, 3), (3, 513), (5, 1)))
        (y,), _ = trnsim.run_graph(text, x, w, b)
        numpy.testing.assert_allclose(y, x @ w + b, rtol=1e-5)

    def test_products_that_nothing_reads_take_no_sums_with_them(self):
        text = program("""  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%a0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<7x33xf32>,
    tensor<f32>) -> tensor<33xf32>
  %t = stablehlo.dot %a2, %s : (tensor<33x33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %unread = stablehlo.dot_general %a0, %a1, contracting_dims = [0] x [0] : (tensor<7x33xf32>, tensor<7x5xf32>)
    -> tensor<33x5xf32>
  %r = stablehlo.subtract %t, %s : tensor<33xf32>""", ["7x33xf32", "7x5xf32", "33x33xf32"], "33xf32")
        draw = numpy.random.default_rng(1)
        x, y, w = (draw.uniform(1, 2, size).astype("float32") for size in ((7, 33), (7, 5), (33, 33)))
        (out,), _ = trnsim.run_graph(text, x, y, w)
        numpy.testing.assert_allclose(out, w @ x.sum(0) - x.sum(0), rtol=1e-5)

    def called(self, target, config, result, *arrays):
        """The first result of a custom call, which may have two; `result`: types."""
        kinds = {"float32": "f32", "float64": "f64", "int32": "i32"}
        types = ["x".join([*map(str, a.shape), kinds[a.dtype.name]]) for a in arrays]
        operands = ", ".join(f"%a{i}" for i in range(len(arrays)))
        given, results = ", ".join(f"tensor<{t}>" for t in types), ", ".join(f"tensor<{t}>" for t in result)
        names = ", ".join(f"%a{i}: tensor<{t}>" for i, t in enumerate(types))
        values = ", ".join(f"%r#{i}" for i in range(len(result)))
        text = (f"func.func @main({names}) -> ({results}) {{\n  %r:{len(result)} = stablehlo.custom_call @{target}"
                f"({operands}) {{backend_config = \"{config}\"}} : ({given}) -> ({results})\n"
                f"  return {values} : {results}\n}}\n")
        return trnsim.run_graph(text, *arrays)[0]

    def test_custom_calls_of_torch_neuronx(self):
        draw = numpy.random.default_rng(3)
        x, y, w = (draw.normal(size=s).astype("float32") for s in ((4, 7, 12), (4, 7, 12), (7,)))
        x[1, 2:4, 5] = x.max() + 1  # two of the largest: the first one is named
        power = numpy.exp(x - x.max(1, keepdims=True))
        norm = x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-3) * w[:, None]
        most = -numpy.sort(-x, -1)[..., :3]
        share = numpy.vectorize(lambda v: 0.5 + 0.5 * math.erf(v / math.sqrt(2)))(x)
        slope = share + x * numpy.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        same = "4x7x12xf32"
        for target, config, result, arrays, want in (
                ("AwsNeuronRmsNorm", 1, [same], (x, w, numpy.float32(1e-3)), norm),
                ("AwsNeuronSoftmax", 1, [same], (x,), power / power.sum(1, keepdims=True)),
                ("AwsNeuronSoftmaxBackward", 2, [same], (x, y), y * (x - (x * y).sum(2, keepdims=True))),
                ("AwsNeuronArgMax", 1, ["4x12xi64"], (x,), x.argmax(1)),
                ("AwsNeuronArgMin", -1, ["4x7xui32"], (x,), x.argmin(2)),
                ("AwsNeuronGeluBackward", "", [same], (x,), slope),
                ("TopK", "", ["4x7x3xf32", "4x7x3xi32"], (x,), most),  # XLA's
                ("AwsNeuronTopK", 3, ["4x7x3xf32", "4x7x3xui32"], (x,), most)):
            got = self.called(target, config, result, *map(numpy.asarray, arrays))[0]
            numpy.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=target)
        picture = draw.normal(size=(2, 3, 5, 4)).astype("float32")
        large = picture.repeat(2, 1).repeat(3, 2)
        got, = self.called("ResizeNearest", "00", ["2x6x15x4xf32"], picture)
        numpy.testing.assert_array_equal(got, large)
        got, = self.called("ResizeNearestGrad", "00", ["2x3x5x4xf32"], large)
        numpy.testing.assert_allclose(got, 6 * picture, rtol=1e-6)

    def of_hlo(self, text, *arrays):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.hlo")
            path.write_text(text)
            return trnsim.run_graph(path, *arrays)[0]

    def test_sizes_of_static_shapes_in_hlo(self):
        text = """HloModule m
ENTRY main {
  x = f32[4,3] parameter(0)
  marked = f32[4,3] domain(x), domain={kind="sharding", entry={maximal device=0}, exit={}}
  rows = s32[] get-dimension-size(marked), dimensions={0}
  columns = s32[] constant(3)
  one = f32[4,3] set-dimension-size(marked, rows), dimensions={0}
  both = f32[4,3] set-dimension-size(one, columns), dimensions={1}
  count = f32[] convert(rows)
  counts = f32[4,3] broadcast(count), dimensions={}
  ROOT out = f32[4,3] multiply(both, counts)
}
"""
        x = numpy.arange(12, dtype="float32").reshape(4, 3)
        numpy.testing.assert_array_equal(self.of_hlo(text, x)[0], 4 * x)
        with self.assertRaisesRegex(trnsim.Error, "no operator has the opcode set-dimension-size"):
            self.of_hlo(text.replace("constant(3)", "constant(2)"), x)

    def test_the_comparison_of_a_top_k(self):
        text = """HloModule m
order {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT above = pred[] compare(a, b), direction=GT
}
ENTRY main {
  x = f32[2,5] parameter(0)
  ROOT out = (f32[2,2], s32[2,2]) custom-call(x), custom_call_target="TopK", called_computations={order}
}
"""
        x = numpy.array([[1, 5, 3, 5, 2], [-1, -5, 0, 7, 7]], "float32")
        values, places = self.of_hlo(text, x)
        numpy.testing.assert_array_equal(values, [[5, 5], [7, 7]])
        numpy.testing.assert_array_equal(places, [[1, 3], [3, 4]])
        with self.assertRaisesRegex(trnsim.Error, "its comparison is not GT"):
            self.of_hlo(text.replace("GT", "LT"), x)

    def test_custom_calls_of_another_form_are_one_error(self):
        x = numpy.ones((4, 7), "float32")
        for target, config, result, said in (
                ("AwsNeuronSoftmax", "2", "4x7xf32", "does not fit"),
                ("AwsNeuronSoftmax", "x", "4x7xf32", "from 0 to 1"),
                ("AwsNeuronRmsNorm", "1", "4x7xf32", "give 3 and 1"),
                ("SPMDFullToShardShape", "unspecified_dims=[1]", "2x7xf32", "divides tensors among cores"),
                ("ResizeNearest", "00", "8x7xf32", "whole factors"),
                ("TopK", "", "4x8xf32", "give 1 and 2"),
                ("AwsNeuronUnheardOf", "", "4x7xf32", "EVRF015")):
            with self.assertRaisesRegex(trnsim.Error, said):
                self.called(target, config, [result], x)

    MANUAL = """module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8x6xf32>, %b: tensor<6x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<8x3xf32>, %d: tensor<3x4xf32>) {
      %1 = stablehlo.dot %c, %d : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
      %2 = "stablehlo.reduce_scatter"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%e: tensor<f32>, %g: tensor<f32>):
        %3 = stablehlo.add %e, %g : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
"""

    def test_cores_of_shard_map_have_their_parts(self):
        draw = numpy.random.default_rng(4)
        x, y = (draw.normal(size=s).astype("float32") for s in ((8, 6), (6, 4)))
        graph = trnsim.Graph(self.MANUAL)
        self.assertEqual(graph.ranks, 2)
        parts = graph(*zip(numpy.split(x, 2, 1), numpy.split(y, 2)))
        numpy.testing.assert_allclose(numpy.concatenate([part for part, in parts]), x @ y, rtol=1e-5, atol=1e-5)
        for changed, by, said in (
                ('["x"=2]', '["x"=2, "y"=1]', "leaves axes to a partitioner"),
                ("    return %0",
                 "    %5 = stablehlo.sine %0 : tensor<8x4xf32>\n    return %5", "divides tensors among")):
            with self.assertRaisesRegex(trnsim.Error, said):
                trnsim.Graph(self.MANUAL.replace(changed, by))

    def sharded_step(self, layers, ranks=4, rows=8, width=8):
        """Layers whose weights ranks share: each gathers them in front of its product, sums their gradients over ranks
        and writes the new part over the old one, last layer first."""
        part, whole, x = f"{width // ranks}x{width}xf32", f"{width}x{width}xf32", f"{rows}x{width}xf32"
        groups = "dense<[[" + ", ".join(map(str, range(ranks))) + f"]]> : tensor<1x{ranks}xi64>"
        lines, grads = [], []
        for i in range(layers):
            lines += [f"""%g{i} = "stablehlo.all_gather"(%w{i}) <{{all_gather_dim = 0 : i64, replica_groups = {groups},
                channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}>
                : (tensor<{part}>) -> tensor<{whole}>""",
                      f"%p{i} = stablehlo.dot %h{i}, %g{i} : (tensor<{x}>, tensor<{whole}>) -> tensor<{x}>",
                      f"%h{i + 1} = stablehlo.tanh %p{i} : tensor<{x}>"]
        for i in reversed(range(layers)):
            lines += [f"""%d{i} = stablehlo.dot_general %h{i}, %h{layers}, contracting_dims = [0] x [0]
                : (tensor<{x}>, tensor<{x}>) -> tensor<{whole}>""",
                      f"""%s{i} = "stablehlo.reduce_scatter"(%d{i}) <{{scatter_dimension = 0 : i64,
                replica_groups = {groups}, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
                use_global_device_ids}}> ({{
                ^bb0(%a{i}: tensor<f32>, %b{i}: tensor<f32>):
                  %c{i} = stablehlo.add %a{i}, %b{i} : tensor<f32>
                  stablehlo.return %c{i} : tensor<f32>
                }}) : (tensor<{whole}>) -> tensor<{part}>""",
                      f"%n{i} = stablehlo.subtract %w{i}, %s{i} : tensor<{part}>"]
            grads.append(f"%n{i}")
        given = ", ".join([f"%w{i}: tensor<{part}> {{tf.aliasing_output = {layers - 1 - i} : i32}}"
                           for i in range(layers)] + [f"%h0: tensor<{x}>"])
        types = ", ".join([f"tensor<{part}>"] * layers + [f"tensor<{x}>"])
        return (f"module @step attributes {{mhlo.num_partitions = {ranks} : i32}} {{\n"
                f"func.func public @main({given}) -> ({types}) {{\n" + "\n".join(lines) +
                f"\nreturn {', '.join(grads + [f'%h{layers}'])} : {types}\n}}\n}}\n")

    def test_collectives_beside_computation_have_the_numbers(self):
        layers, ranks = 3, 4
        draw = numpy.random.default_rng(5)
        weights = [draw.normal(size=(8, 8), scale=0.3).astype("float32") for _ in range(layers)]
        xs = [draw.normal(size=(8, 8)).astype("float32") for _ in range(ranks)]
        graph = trnsim.Graph(self.sharded_step(layers))
        parts = graph(*([*(numpy.split(w, ranks)[r] for w in weights), xs[r]] for r in range(ranks)))
        states = [[x] for x in xs]
        for hidden in states:
            for weight in weights:
                hidden.append(numpy.tanh(hidden[-1] @ weight))
        for i, weight in enumerate(weights):
            new = weight - sum(hidden[i].T @ hidden[-1] for hidden in states)
            got = numpy.concatenate([parts[r][layers - 1 - i] for r in range(ranks)])
            numpy.testing.assert_allclose(got, new, rtol=1e-4, atol=1e-4)
        for r in range(ranks):
            numpy.testing.assert_allclose(parts[r][layers], states[r][-1], rtol=1e-4, atol=1e-4)

    def test_places_that_frameworks_ask_for_change_nothing(self):
        text = program("""  %0 = stablehlo.custom_call @annotate_device_placement(%a0) {has_side_effect = true,
    mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = stablehlo.custom_call @LayoutConstraint(%0) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>],
    result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>""", ["2x3xf32"],
                       "2x3xf32")
        x = numpy.arange(6, dtype="float32").reshape(2, 3)
        numpy.testing.assert_array_equal(trnsim.run_graph(text, x)[0][0], x)

    def test_a_buffer_is_read_with_and_without_a_copy(self):
        x = numpy.arange(6, dtype="float32").reshape(2, 3)
        buffer, place = _core.Buffer("f32", [2, 3], x), numpy.empty(24, "uint8")
        x[0] = 9  # the buffer keeps its own
        buffer.copy_to(place)
        self.assertEqual((buffer.size, bytes(place)), (24, buffer.bytes()))
        numpy.testing.assert_array_equal(numpy.frombuffer(buffer, "float32"), numpy.arange(6, dtype="float32"))
        with self.assertRaisesRegex(trnsim.Error, "24"):
            buffer.copy_to(numpy.empty(23, "uint8"))

    def test_wrong_arrays_are_refused(self):
        text = program("  %r = stablehlo.negate %a0 : tensor<4xbf16>", ["4xbf16"], "4xbf16")
        graph = trnsim.Graph(text)
        numpy.testing.assert_array_equal(graph(numpy.array([1, 2, 3, 4]))[0], [-1, -2, -3, -4])
        with self.assertRaises(trnsim.Error):
            graph(numpy.zeros(5))
        with self.assertRaises(trnsim.Error):
            graph()
        with self.assertRaises(trnsim.Error):
            trnsim.Graph("nonsense\n")


if __name__ == "__main__":
    unittest.main()
