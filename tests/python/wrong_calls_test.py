"""Wrong calls of the Python module: whatever is given, the answer is a TypeError or a trnsim.Error that says where and
how to mend it, at once; never a crash, an internal error or another exception. Handles outlive their threads, are
pickled and copied; a forked child asks as its parent did."""
import copy
import inspect
import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import trnsim

SMALL = {"machine": "trn1.2xlarge", "suggestions": 0}  # a model that is projected in a second
# One call of each public function, right until a test changes it.
CALLS = {
    "ablate": {"job": "llama-small"}, "choose": {"job": "llama-small", "samples": 100},
    "consolidate": {"folder": "no/such/folder", "out": "no/such/out"}, "cost": {"seconds": 60.0},
    "generate": {"model": "llama-small"}, "list": {"what": "models"},
    "open": {"folder": "no/such/folder"}, "parameters": {}, "project": {"job": "llama-small", **SMALL},
    "run": {"job": "bert_emotion"}, "search": {"model": "llama-small"},
    "sweep": {"job": "vit_mnist", "axes": {"hbm.bandwidth": "1x"}}, "tokenize": {"text": "a", "vocab": "no/such/file"},
    "train": {"job": "bert_emotion"}, "validate": {"files": "no/such/file.csv"},
    "verify": {"programs": "no/such/file.mlir"}}
STRANGE = [object(), 3.5, -1, b"bytes", [object()], {"a": object()}, {1: 2}, set(), float("nan"), 10 ** 30, lambda: 0,
           "", "\0", "x" * 100_000, "\ud800", (), [[]], ("a", "b", "c")]


def signature(name):
    return inspect.signature(getattr(trnsim, name)).parameters


class WrongCalls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.back = os.getcwd()
        os.chdir(self.folder.name)  # a run that goes on after all writes nowhere else

    def tearDown(self):
        os.chdir(self.back)
        self.folder.cleanup()

    def refused(self, name, **arguments):
        """Calls it; a right answer is none of the errors that a test must look at."""
        begin = time.process_time()  # without what others do on the host
        try:
            getattr(trnsim, name)(**arguments)
        except TypeError as error:
            self.assertTrue(str(error))
            return True
        except trnsim.Error as error:
            self.assertIn(error.exit_code, (2, 3), f"{name}({arguments}): {error}")
            self.assertTrue(error.where and error.what and error.fix)
            self.assertNotIn("internal", str(error))
            return True
        finally:
            self.assertLess(time.process_time() - begin, 10, f"{name}({arguments})")
        return False

    def test_every_public_function_is_here(self):
        functions = {n for n in trnsim.__all__ if inspect.isfunction(getattr(trnsim, n))}
        self.assertEqual(functions - {"run_graph"}, set(CALLS))  # that one takes arrays: graph_test.py

    def test_unknown_keywords_are_refused(self):
        for name, right in CALLS.items():
            with self.subTest(name):
                self.assertTrue(self.refused(name, **right, no_such_setting=1))
                self.assertTrue(self.refused(name, **right, **{"not a name": 1}))

    def test_missing_and_surplus_arguments_are_type_errors(self):
        for name, right in CALLS.items():
            needed = [p for p in signature(name).values() if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD]
            if needed:
                self.assertRaises(TypeError, getattr(trnsim, name))
            self.assertRaises(TypeError, getattr(trnsim, name), *range(12))

    def test_values_of_strange_types_are_refused_or_have_a_meaning(self):
        slow = ("run", "train", "search", "choose", "validate", "ablate")  # of these, what a job is alone
        for name, right in CALLS.items():
            first = next(iter(signature(name)))
            places = [first] if name in slow else [p for p in signature(name) if not p.endswith("settings")]
            for place, value in itertools.product(places, STRANGE):
                if place in ("work", "progress", "step", "note", "text") and callable(value):
                    continue
                with self.subTest(f"{name}({place}={repr(value)[:40]})"):
                    self.refused(name, **{**right, place: value})

    def test_settings_of_strange_types_are_refused(self):
        for setting in ("batch", "length", "numerics", "zero_1", "warmup_steps", "tensor_parallel_size"):
            for value in STRANGE:
                with self.subTest(f"{setting}={repr(value)[:40]}"):
                    self.assertTrue(self.refused("project", job="llama-small", **SMALL, **{setting: value}))

    def test_numbers_out_of_range_are_refused(self):
        for setting, values in {"batch": (0, -1, 10 ** 30, 1.5), "length": (-4, 10 ** 12), "max_steps": (-7, 10 ** 20),
                                "tensor_parallel_size": (0, -2, 10 ** 9), "sequences": (-1,)}.items():
            for value in values:
                with self.subTest(f"{setting}={value}"):
                    self.assertTrue(self.refused("project", job="llama-small", **SMALL, **{setting: value}))

    def test_counts_below_one_are_refused_as_on_the_command_line(self):
        small = {"job": "llama-small", **SMALL}
        for value in (0, -4, 1.5, 10 ** 30, [0], [1, -1]):
            with self.subTest(value=value):
                self.assertTrue(self.refused("search", **{**small, "micro_batch_sizes": value}))
                self.assertTrue(self.refused("choose", job="llama-small", samples=64, instance_types="trn1.2xlarge",
                                             global_batch_size=value))
                self.assertTrue(self.refused("cost", run="bert-small", samples=64, length=64, instances=value))
        self.assertTrue(self.refused("search", **{**small, "global_batch_size": 0}))

    def test_whole_numbers_of_a_sweep_are_whole(self):
        for name, values in {"processes": (-3, 10 ** 9, 1.5, True), "samples": (-1, 10 ** 30),
                             "seed": (-1, 0.5)}.items():
            for value in values:
                with self.subTest(f"{name}={value}"):
                    self.assertTrue(self.refused("sweep", **CALLS["sweep"], **{name: value}))

    def test_a_setting_under_two_names_is_given_twice(self):
        for twice in ({"batch": 2, "per_device_train_batch_size": 4}, {"length": 8, "max_length": 8},
                      {"machine": "trn1.2xlarge", "instance_type": "trn2.3xlarge"}):
            with self.subTest(str(twice)):
                self.assertRaisesRegex(TypeError, "twice", trnsim.project, "llama-small", **twice)
        axes = {"batch": [1], "per_device_train_batch_size": [2]}
        self.assertRaisesRegex(TypeError, "twice", trnsim.sweep, "vit_mnist", axes)

    def test_a_program_refuses_numbers_that_its_inputs_do_not_have(self):
        import numpy
        text = "func.func @main(%a: tensor<2x{0}>) -> tensor<2x{0}> {{\n  return %a : tensor<2x{0}>\n}}\n"
        wrong = {"f32": ([1j, 2], ["1", "2"], [object()] * 2, numpy.zeros(2, "M8[s]"), numpy.zeros(2, [("x", "f4")]),
                         numpy.ma.masked_array([1., 2.], [True, False])),
                 "i32": ([1.5, 2], [2 ** 40, 0], [float("nan"), 0], ["1", "2"]), "ui8": ([-1, 0], [256, 0]),
                 "i1": ([2, 0], [0.5, 1])}
        for element, arrays in wrong.items():
            for array in arrays:
                with self.subTest(f"{element} of {array}"):
                    self.assertRaises(trnsim.Error, trnsim.run_graph, text.format(element), array)
        for element, array in {"f32": [1, 2], "i32": [1., 2.], "ui8": [255, 0], "i1": [1, 0], "bf16": [1.5, 2]}.items():
            (got,), _ = trnsim.run_graph(text.format(element), array)
            self.assertEqual(got.tolist(), numpy.asarray(array).tolist(), element)
        for place in ("program", "machine", "numerics"):
            wrong = {"program": text.format("f32"), place: None}
            self.assertRaisesRegex(TypeError, place, lambda: trnsim.Graph(wrong.pop("program"), **wrong))

    def test_tables_and_answers_refuse_what_they_are_not_made_of(self):
        self.assertRaises(TypeError, trnsim.Table, 5)
        self.assertRaises(KeyError, lambda: trnsim.Table([{"a": 1}])["b"])
        self.assertRaises(IndexError, lambda: trnsim.Table([])[0])
        self.assertRaises(AttributeError, lambda: trnsim.project("llama-small", **SMALL).no_such_figure)


class Handles(unittest.TestCase):
    def test_answers_are_pickled_and_copied(self):
        p = trnsim.project("llama-small", **SMALL)
        for again in (pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p)):
            self.assertEqual((again.result, again.seconds, str(again.answer)), (p.result, p.seconds, str(p.answer)))
        table = trnsim.list("models")
        self.assertEqual(pickle.loads(pickle.dumps(table)).rows, table.rows)
        error = trnsim.Error("a file", "is `set` so", "mend it", 3)
        back = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(back), back.exit_code, back.fix), (str(error), 3, "mend it"))

    def test_a_run_outlives_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            run = trnsim.train("bert_emotion", output_dir=folder + "/run", steps=1, max_train_samples=16,
                               max_eval_samples=8, eval_strategy="no")
        self.assertEqual(run.metrics["steps"], 1)
        self.assertRaises(trnsim.Error, run.summary)
        self.assertRaises(trnsim.Error, run.records)

    def test_other_threads_ask_too(self):
        answers, errors = [], []

        def ask(batch):
            try:
                answers.append((batch, trnsim.project("llama-small", batch=batch, **SMALL).seconds))
            except BaseException as error:  # noqa: B902: a thread must not swallow it
                errors.append(error)

        threads = [threading.Thread(target=ask, args=(1 + n % 2,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(len(set(answers)), 2)

    def test_a_forked_child_asks_as_its_parent_did(self):
        want = trnsim.project("llama-small", **SMALL).seconds
        with multiprocessing.get_context("fork").Pool(2) as pool:
            got = [pool.apply_async(_seconds) for _ in range(2)]
            self.assertEqual([one.get(600) for one in got], [want, want])

    def test_the_interpreter_ends_while_a_daemon_thread_asks(self):
        script = ("import threading, time, trnsim\n"
                  "ask = lambda: trnsim.train('bert_emotion', steps=500, max_train_samples=64, eval_strategy='no')\n"
                  "threading.Thread(target=ask, daemon=True).start()\ntime.sleep(1)\n")
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, timeout=600,
                                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))

    def test_an_interrupt_in_a_callback_ends_the_training_after_its_checkpoint(self):
        def interrupt(record):
            os.kill(os.getpid(), signal.SIGINT)

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(KeyboardInterrupt):
                trnsim.train("bert_emotion", output_dir=folder + "/run", step=interrupt, steps=500,
                             max_train_samples=48, max_eval_samples=8, eval_strategy="no", logging_steps=1)
            self.assertTrue(trnsim.open(folder + "/run").metrics["interrupted"])


def _seconds():
    return trnsim.project("llama-small", **SMALL).seconds


if __name__ == "__main__":
    unittest.main()
