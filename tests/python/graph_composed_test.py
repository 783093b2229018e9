"""trnsim.Graph: operators that are composed of others, and numbers that the timed program leaves out."""
import unittest

import numpy

import trnsim


def program(body, inputs, result):
    names = ", ".join(f"%a{i}: tensor<{t}>" for i, t in enumerate(inputs))
    return f"func.func @main({names}) -> tensor<{result}> {{\n{body}\n  return %r : tensor<{result}>\n}}\n"


class ComposedTest(unittest.TestCase):
    def test_products_of_short_integers_are_exact(self):
        draw = numpy.random.default_rng(1)
        for element, numbers in (("i8", (-128, 128)), ("ui8", (0, 256))):
            text = program(f"""  %r = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0]
    : (tensor<3x130x{element}>, tensor<130x5x{element}>) -> tensor<3x5xi32>""",
                           [f"3x130x{element}", f"130x5x{element}"], "3x5xi32")
            x, w = (draw.integers(*numbers, size) for size in ((3, 130), (130, 5)))
            (result,), _ = trnsim.run_graph(text, x, w)
            numpy.testing.assert_array_equal(result, x @ w)
        deep = text.replace("130", "1024").replace("ui8", "i8")  # 1024 * 128 * 128 = 2^24
        (result,), _ = trnsim.run_graph(deep, numpy.full((3, 1024), -128), numpy.full((1024, 5), -128))
        numpy.testing.assert_array_equal(result, numpy.full((3, 5), 2 ** 24))
        deeper = text.replace("130", "4097")  # sums of parts, each of which fp32 holds
        x, w = draw.integers(0, 256, (3, 4097)), draw.integers(0, 256, (4097, 5))
        x[0], w[:, 0] = 255, 255
        numpy.testing.assert_array_equal(trnsim.run_graph(deeper, x, w)[0][0], x @ w)

    def test_a_branch_that_data_chooses_is_computed(self):
        text = """func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %s = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
        graph = trnsim.Graph(text)
        self.assertEqual(graph.timed_only, [])
        for choice, factor in ((0, 1), (1, 2), (7, 2), (-1, 2)):
            numpy.testing.assert_array_equal(graph(choice, numpy.arange(4))[0], factor * numpy.arange(4))
        self.assertGreater(graph.seconds, 0)

    def test_shorthands_are_computed(self):
        draw = numpy.random.default_rng(1)
        sizes = dict(zip("abcde", (2, 3, 4, 5, 6)))
        for config in ("abc,cd->abd", "abcd,bae->bcea", "ab,ab->a", "ab,cd->", "abc->ca", "ab->"):
            left, result = config.split("->")
            arrays = [draw.normal(size=[sizes[c] for c in names]).astype("float32") for names in left.split(",")]
            expected = numpy.einsum(config, *arrays)
            types = ["x".join([*map(str, a.shape), "f32"]) for a in arrays]
            out, name = "x".join([*map(str, expected.shape), "f32"]), "einsum" if len(arrays) == 2 else "unary_einsum"
            given = ", ".join(f"%a{i}" for i in range(len(arrays)))
            (y,), _ = trnsim.run_graph(program(f"""  %r = "stablehlo.{name}"({given}) {{einsum_config = "{config}"}}
    : ({", ".join(f"tensor<{t}>" for t in types)}) -> tensor<{out}>""", types, out), *arrays)
            numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
        x, places = draw.normal(size=(2, 3, 4)).astype("float32"), numpy.array([[2, 0], [1, 1]])
        (y,), _ = trnsim.run_graph(program("""  %r = "stablehlo.torch_index_select"(%a0, %a1)
    {dim = 2 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x2xi32>) -> tensor<2x3x2xf32>""",
                                           ["2x3x4xf32", "2x2xi32"], "2x3x2xf32"), x, places)
        numpy.testing.assert_array_equal(y, numpy.stack([x[i][:, places[i]] for i in range(2)]))
        (y,), _ = trnsim.run_graph(program("""  %r = chlo.broadcast_compare %a0, %a1
    {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xi1>""",
                                           ["3x1xf32", "4xf32"], "3x4xi1"), x[0, :, :1], x[1, 0])
        numpy.testing.assert_array_equal(y, x[0, :, :1] < x[1, 0])
        (y,), _ = trnsim.run_graph(program("""  %r = chlo.broadcast_add %a0, %a1 {broadcast_dimensions = array<i64: 0>}
    : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>""", ["4xf32", "4x4xf32"], "4x4xf32"), x[1, 0], numpy.eye(4))
        numpy.testing.assert_array_equal(y, x[1, 0][:, None] + numpy.eye(4, dtype="float32"))

    def test_sizes_and_places_as_operands_are_attributes(self):
        x = numpy.arange(6, dtype="float32")
        for line, out, expected in (
                ("dynamic_reshape %a0, %s : (tensor<6xf32>, tensor<2xi32>)", "2x3", x.reshape(2, 3)),
                ("dynamic_broadcast_in_dim %a0, %s, dims = [1] : (tensor<6xf32>, tensor<2xi32>)", "2x6", [x, x]),
                ("dynamic_iota %s, dim = 1 : (tensor<2xi32>)", "2x3", [[0, 1, 2]] * 2),
                ("dynamic_pad %a0, %z, %p, %p, %p : (tensor<6xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, "
                 "tensor<1xi32>)", "13", [7, 0, 7, 1, 7, 2, 7, 3, 7, 4, 7, 5, 7]),
                ("real_dynamic_slice %a0, %p, %l, %p : (tensor<6xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)",
                 "3", x[1:4])):
            sizes = "2, 6" if out == "2x6" else "2, 3"
            text = program(f"""  %s = stablehlo.constant dense<[{sizes}]> : tensor<2xi32>
  %p = stablehlo.constant dense<1> : tensor<1xi32>
  %l = stablehlo.constant dense<4> : tensor<1xi32>
  %z = stablehlo.constant dense<7.0> : tensor<f32>
  %r = stablehlo.{line} -> tensor<{out}xf32>""", ["6xf32"], f"{out}xf32")
            numpy.testing.assert_array_equal(trnsim.run_graph(text, x)[0][0], expected)

    def test_the_largest_as_a_call(self):
        text = """func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %r:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}}
    : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xi32>
}"""
        (numbers, places), _ = trnsim.run_graph(text, numpy.array([[1, 4, 2, 3], [8, 5, 6, 7]]))
        numpy.testing.assert_array_equal(numbers, [[4, 3], [8, 7]])
        numpy.testing.assert_array_equal(places, [[1, 3], [0, 3]])
        with self.assertRaisesRegex(trnsim.Error, "asks for the smallest"):
            trnsim.Graph(text.replace("largest = true", "largest = false"))

    def test_what_is_only_timed_says_so(self):
        text = """func.func @main(%s: tensor<2xui64>) -> tensor<6xui32> {
  %t, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
  return %r : tensor<6xui32>
}"""
        graph = trnsim.Graph(text)
        self.assertGreater(graph.seconds, 0)
        with self.assertRaisesRegex(trnsim.Error, "(?s)not computed.*ask for its time alone"):
            graph(numpy.zeros(2, "uint64"))

    def test_ranks_have_their_numbers(self):
        text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = stablehlo.replica_id : tensor<ui32>
  %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %s = stablehlo.multiply %x, %b : tensor<2xf32>
  %r = "stablehlo.all_reduce"(%s) ({
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %t = stablehlo.add %a, %c : tensor<f32>
      stablehlo.return %t : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}"""
        for result, in trnsim.Graph(text)([numpy.array([3, 4])], [numpy.array([5, 6])]):
            numpy.testing.assert_array_equal(result, [5, 6])


if __name__ == "__main__":
    unittest.main()
