"""Wrong calls of NKI's functions: whatever is given, the answer is a TypeError, an IndexError or a trnsim.Error that
says where and how to mend it, at once, and the next kernel is right. Tiles outlive their kernels, are pickled and used
in other threads; a forked child computes kernels as its parent did."""
import copy
import importlib.util
import inspect
import json
import os
import pickle
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import trnsim
import trnsim.nki
from trnsim.nki import _listing, _scripts, isa, language
from trnsim.nki._newer import isa as newer_isa
from trnsim.nki._newer import language as newer_language

import neuronxcc.nki as nki  # noqa: E402  (trnsim.nki makes it work)
import neuronxcc.nki.isa as nisa  # noqa: E402
import neuronxcc.nki.language as nl  # noqa: E402

MODULES = {("neuronxcc.nki", "nl"): language, ("neuronxcc.nki", "nisa"): isa,
           ("nki", "nl"): newer_language, ("nki", "nisa"): newer_isa}
ONES = np.ones((128, 64), np.float32)
needs_torch = unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not there")
STRANGE = [object(), b"bytes", "no such thing", "", "\0", float("nan"), float("inf"), -1, 10 ** 30, 1e300, 2 ** 63, (),
           [], [[]], {}, {"a": 1}, set(), (1, "a"), (-1, 4), (2 ** 40, 2 ** 40), lambda: 0, print, int, np.zeros(3),
           np.array("a"), complex(1, 2), slice(None), Ellipsis, NotImplemented, True]


def kept(ctx, inputs, output):
    """Keeps the operands of a square for its backward pass."""
    ctx.save_for_backward(inputs[0])
    ctx.scale = inputs[1]


def functions(dialect):
    """(name, function) of each documented function of a dialect."""
    for name, row in sorted(_listing.DIALECTS[dialect].items()):
        prefix, _, short = name.partition(".")
        function = vars(MODULES[dialect, prefix]).get(short)
        if row.parameters and inspect.isfunction(function):
            yield name, function


def likely(parameter, tile):
    """An argument that its name lets expect."""
    name = parameter.name
    if name in ("op", "op0", "op1", "cmp_op", "reduce_op", "comp_op0", "comp_op1"):
        return np.add
    if name in ("shape", "sizes", "src_shape"):
        return (128, 64)
    if name in ("axis", "axes", "dim", "num_elem_per_idx", "num_valid_indices", "start", "stop", "step"):
        return 1
    return nl.float32 if name == "dtype" else tile


def kernel(body):
    """Traces a kernel that calls `body` with a tile."""
    @nki.jit
    def k(a):
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.load(a)
        body(tile)
        nl.store(out, tile)
        return out
    return k


def right():
    return bool((kernel(lambda tile: None)(ONES) == ONES).all())


RANGES = ("nl.affine_range", "nl.sequential_range")  # documented with **kwargs: start, stop and step, and no others


class WrongCalls(unittest.TestCase):
    """Each in a kernel of its own function: one that an accepted call made illegal says so at its end."""

    def called(self, name, function, arguments):
        """Calls it; an exception is one of those that a user can act on. Returns whether there was one."""
        begin = time.process_time()  # without what others do on the host
        try:
            function(**arguments)
        except (TypeError, IndexError) as error:
            self.assertTrue(str(error), name)
            return True
        except trnsim.Error as error:
            self.assertTrue(error.what and error.fix, name)
            self.assertNotIn("internal", str(error), name)
            return True
        finally:
            self.assertLess(time.process_time() - begin, 10, f"{name}({arguments})")
        return False

    def each(self, dialect, calls):
        """calls(name, function, tile) in a kernel for each function; its failures are raised outside of it."""
        for name, function in functions(dialect):
            failures = []

            def body(tile):
                try:
                    calls(name, function, tile)  # noqa: B023
                except BaseException as error:  # noqa: B902: told below, with the name
                    failures.append(error)  # noqa: B023

            with self.subTest(f"{dialect} {name}"):
                try:
                    kernel(body)(ONES)
                except (trnsim.Error, TypeError, IndexError) as error:
                    self.assertNotIn("internal", str(error))
                for failure in failures:
                    raise failure
        self.assertTrue(right(), "a kernel after them")

    def usual(self, function, tile):
        return {p.name: likely(p, tile) for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}

    def test_unknown_keywords_are_type_errors(self):
        def calls(name, function, tile):
            if any(p.kind == p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()):
                self.assertIn(name, ("nl.device_print", "nl.ndarray", *RANGES), "takes any keyword")
                return
            with self.assertRaises(TypeError):
                function(**self.usual(function, tile), no_such_keyword=1)

        for dialect in _listing.DIALECTS:
            self.each(dialect, calls)

    def test_strange_values_are_refused_or_have_a_meaning(self):
        def calls(name, function, tile):
            usual = self.usual(function, tile)
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    continue
                for value in STRANGE:
                    self.called(f"{name}({parameter.name}={repr(value)[:40]})", function,
                                {**usual, parameter.name: value})

        for dialect in _listing.DIALECTS:
            self.each(dialect, calls)

    def test_functions_outside_of_a_kernel_say_so(self):
        for dialect in _listing.DIALECTS:
            for name, function in functions(dialect):
                with self.subTest(f"{dialect} {name}"):
                    self.called(name, function, self.usual(function, ONES))
        self.assertTrue(right())


class Arrays(unittest.TestCase):
    """Arguments of kernels."""

    def test_arrays_that_are_none(self):
        for value in (None, "text", object(), {}, np.array([[object()] * 64] * 128), np.zeros((2, 2), "U3"),
                      np.zeros((128, 64), [("a", "f4")]), np.ones((0, 64), np.float32), lambda: 0,
                      np.ones((128, 64), np.complex64)):
            with self.subTest(repr(value)[:40]):
                self.assertRaises((TypeError, trnsim.Error), kernel(lambda tile: None), value)
        self.assertRaises(TypeError, kernel(lambda tile: None))
        self.assertRaises(TypeError, kernel(lambda tile: None), ONES, ONES)
        self.assertRaises(TypeError, kernel(lambda tile: None), a=ONES, b=ONES)
        self.assertTrue(right())

    def test_strides_and_byte_orders_are_those_of_numpy(self):
        rows = np.arange(128 * 64, dtype=np.float32).reshape(64, 128)
        for array in (rows.T, rows.reshape(128, 64)[::-1], np.broadcast_to(np.float32(3), (128, 64))):
            np.testing.assert_array_equal(kernel(lambda tile: None)(array), array)
        with self.assertRaisesRegex(trnsim.Error, "not a type of the machine"):
            kernel(lambda tile: None)(rows.reshape(128, 64).astype(">f4"))

    @needs_torch
    def test_tensors_of_torch_give_tensors_of_torch(self):
        import torch

        @nki.jit
        def twice(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.add(nl.load(a), nl.load(a)))
            return out

        @nki.jit
        def negated(a):
            nl.store(a, nl.negative(nl.load(a)))
        rows = torch.arange(128 * 64, dtype=torch.float32).reshape(128, 64) % 100
        for given in (rows, rows.to(torch.bfloat16), rows.to(torch.int32), rows.half()):
            with self.subTest(given.dtype):
                got = twice(given)
                self.assertEqual((type(got), got.dtype), (torch.Tensor, given.dtype))
                self.assertTrue(torch.equal(got, given + given))
        for given in (rows.clone(), rows.to(torch.bfloat16)):
            want = -given
            negated(given)
            self.assertTrue(torch.equal(given, want))

    @needs_torch
    def test_operators_of_torch_around_kernels_have_gradients(self):
        import torch
        from libtorch_neuronx_lite.nki.nki_hop import wrap_nki
        from torch_neuronx import nki_op

        @nki.jit
        def square(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.square(nl.load(a)))
            return out

        @nki_op("trnsim_tests::square", mutates_args={})
        def squared(a: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
            return wrap_nki(square)[1](a) * scale
        x = torch.arange(64.0).repeat(128, 1).requires_grad_()
        self.assertFalse(squared(x).requires_grad)  # without a backward pass
        squared.register_autograd(lambda ctx, g: (2 * ctx.saved_tensors[0] * ctx.scale * g, None), setup_context=kept)
        squared(x, scale=3.0).sum().backward()
        self.assertTrue(torch.equal(x.grad, 6 * x))
        self.assertTrue(torch.equal(torch.ops.trnsim_tests.square(x), x * x))
        self.assertRaises(trnsim.Error, nki_op, "square", lambda a: a)

    def test_grids_of_impossible_sizes_are_refused(self):
        for grid in (-1, 0, 10 ** 9, 10 ** 30, (10 ** 4, 10 ** 4), "x", 1.5, (1, -1), None, ()):
            with self.subTest(repr(grid)):
                self.assertRaises((TypeError, trnsim.Error), lambda: kernel(lambda tile: None)[grid](ONES))


class Sequences(unittest.TestCase):
    def test_only_things_with_an_end_are_iterated(self):
        @nki.jit
        def k(a):
            for endless in (nl.arange(128), nl.arange(128)[:, None] + nl.arange(64)[None, :], nl.mgrid):
                with self.assertRaises(TypeError):
                    list(endless)
                with self.assertRaises((TypeError, trnsim.Error)):
                    nl.ndarray(endless, dtype=nl.float32, buffer=nl.sbuf)
            out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
            nl.store(out, nl.load(a))
            return out
        self.assertTrue((k(ONES) == ONES).all())
        self.assertRaises(TypeError, list, k)


class Functions(unittest.TestCase):
    def test_one_whose_call_runs_nothing_is_no_kernel(self):
        def generator(a):
            yield a

        async def coroutine(a):
            return a

        for function in (generator, coroutine):
            self.assertRaisesRegex(TypeError, "runs nothing", nki.jit, function)


class Handles(unittest.TestCase):
    def kept(self):
        tiles = []
        kernel(tiles.append)(ONES)
        return tiles[0]

    def test_a_tile_of_a_kernel_that_ended_is_refused(self):
        old = self.kept()
        for use in (lambda tile: nl.add(tile, old), lambda tile: nl.copy(old), lambda tile: old[0:4],
                    lambda tile: old + 1, lambda tile: nisa.tensor_copy(old), lambda tile: setattr(old, "x", 1),
                    lambda tile: old.shape):
            try:
                kernel(use)(ONES)
            except (trnsim.Error, AttributeError) as error:
                self.assertNotIn("internal", str(error))
        with self.assertRaisesRegex(trnsim.Error, "another kernel"):
            kernel(lambda tile: nl.add(tile, old))(ONES)
        self.assertRaises((trnsim.Error, TypeError), lambda: nl.add(old, old))
        self.assertTrue(right())

    def test_tiles_are_not_pickled_and_copies_are_of_their_kernel(self):
        old = self.kept()
        for keep in (pickle.dumps, copy.copy, copy.deepcopy):
            self.assertRaises((TypeError, trnsim.Error), lambda: kernel(lambda tile: pickle.dumps(tile))(ONES))
            try:
                again = keep(old)
            except (TypeError, trnsim.Error):
                continue
            self.assertRaises((TypeError, trnsim.Error), lambda: kernel(lambda tile: nl.add(tile, again))(ONES))
        self.assertTrue(right())

    def test_other_threads_compute_too(self):
        answers, errors = [], []

        def ask(factor):
            @nki.jit
            def k(a):  # traced for so long that threads take turns in it
                out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
                tile = nl.multiply(nl.load(a), factor)
                for _ in range(300):
                    tile = nl.abs(tile)
                nl.store(out, tile)
                return out
            try:
                answers.append((factor, float(k(ONES)[5, 7])))
            except BaseException as error:  # noqa: B902: a thread must not swallow it
                errors.append(error)

        threads = [threading.Thread(target=ask, args=(float(n),)) for n in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(sorted(answers), [(float(n), float(n)) for n in range(1, 9)])

    def test_a_tile_in_another_thread_is_refused(self):
        seen = []

        def body(tile):
            def use():
                try:
                    nl.add(tile, tile)
                except (trnsim.Error, TypeError) as error:
                    seen.append(str(error))
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()

        kernel(body)(ONES)
        self.assertEqual(len(seen), 1, "a thread without a kernel used a tile")
        self.assertTrue(right())

    def test_a_forked_child_computes_as_its_parent_did(self):
        self.assertTrue(right())
        held = kernel(lambda tile: None)
        held(ONES)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            code = 9
            try:
                code = 0 if (held(ONES) == ONES).all() and right() else 1
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        self.assertEqual(status, 0, "the child's end")
        self.assertTrue(right())

    def test_tuning_replaces_what_the_call_gives_by_position(self):
        lines = ("import numpy as np", "import neuronxcc.nki as nki", "import neuronxcc.nki.language as nl", "@nki.jit",
                 "def k(x, rows, times=1):", "    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)",
                 "    for r in range(0, 128, rows):",
                 "        nl.store(out[r:r + rows], nl.load(x[r:r + rows]) * times)", "    return out",
                 "k(np.ones((128, 8), np.float32), 32)")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "kernel.py")
            with open(file, "w", encoding="utf-8") as script:
                script.write("\n".join(lines))
            rows = trnsim.nki.tune(file, {"rows": [32, 64], "times": [1, 2]}, cache=False, processes=1)
        self.assertEqual([row.get("error") for row in rows], [None] * 4)
        self.assertEqual({(row["parameters"]["times"], row["correct"]) for row in rows if row["correct"] is not None},
                         {(1, True), (2, False)})
        self.assertEqual(len({row["instructions"] for row in rows}), 2)

    def test_kernels_are_compared_on_a_script_of_inputs_or_on_their_first_calls(self):
        lines = ("import numpy as np", "import neuronxcc.nki as nki", "import neuronxcc.nki.language as nl", "@nki.jit",
                 "def k(x, times=1):", "    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)",
                 "    nl.store(out, nl.load(x) * times)", "    return out", "again = k", "if __name__ == '__main__':",
                 "    k(np.ones((128, 8), np.float32), times=2)")
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name) for name in ("called.py", "silent.py", "inputs.py")}
            for name, text in (("called.py", lines), ("silent.py", lines[:8]),
                               ("inputs.py", (lines[0], "inputs = lambda: [np.ones((128, 16), np.float32)]"))):
                with open(files[name], "w", encoding="utf-8") as script:
                    script.write("\n".join(text))

            def compared(*names, inputs=None):
                return json.loads(_scripts.compare([files[name] for name in names], None, inputs, "json"))
            self.assertEqual([row["hbm_read_bytes"] for row in compared("called.py")], [128 * 8 * 4])
            both = compared("called.py", "silent.py", inputs=files["inputs.py"])
            self.assertEqual([row["hbm_read_bytes"] for row in both], [128 * 16 * 4] * 2)
            with self.assertRaisesRegex(trnsim.Error, "arguments of its kernel are not given"):
                compared("silent.py")

    def test_an_interrupt_or_an_error_of_the_kernels_own_leaves_the_next_one_right(self):
        for error in (KeyboardInterrupt, ZeroDivisionError, SystemExit, GeneratorExit, RecursionError):
            def body(tile):
                raise error  # noqa: B023

            self.assertRaises(error, kernel(body), ONES)
            self.assertTrue(right())


if __name__ == "__main__":
    unittest.main()
