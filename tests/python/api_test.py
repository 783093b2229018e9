"""The Python module against the binary: the same questions, the same answers. `TRNSIM_BINARY` is the command line."""
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import trnsim

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["TRNSIM_BINARY"]
SMALL = {"machine": "trn1.2xlarge", "suggestions": 0}  # a model that is projected in a second
TINY_TRAINING = {"steps": 3, "max_train_samples": 48, "max_eval_samples": 8, "eval_strategy": "no", "logging_steps": 1}


def command(*arguments):
    done = subprocess.run([BINARY, *arguments, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class SameAnswers(unittest.TestCase):
    maxDiff = None

    def test_a_model_is_projected_as_estimate_prints_it(self):
        p = trnsim.project("llama-small", batch=2, machine=("trn1.2xlarge", {"hbm.bandwidth": "2x"}), suggestions=0)
        told = command("estimate", "llama-small", "--per_device_train_batch_size", "2", "--instance_type",
                       "trn1.2xlarge", "--set", "hbm.bandwidth=2x", "--suggestions", "0")
        self.assertEqual(p.result, told)
        self.assertEqual((p.step_seconds, p.seconds, p.dollars, p.memory.total),
                         (told["step_seconds"], told["train_runtime"], told["dollars"], told["memory"]["hbm_bytes"]))
        self.assertAlmostEqual(p.parts["seconds"].sum(), p.seconds, delta=1e-9 * p.seconds)
        self.assertEqual(len(p.stages), 1)
        self.assertIn("samples/s", str(p.answer))
        self.assertIn("<table>", p._repr_html_())

    def test_the_data_of_a_model_have_two_names_and_a_workload_has_its_own(self):
        p = trnsim.project("llama-small", samples=3000, suggestions=0)
        self.assertEqual(p.seconds, trnsim.project("llama-small", sequences=3000, suggestions=0).seconds)
        for job, number in (("bert_emotion", 5), ("llama-small", 0.5), ("llama-small", 1e30)):
            with self.assertRaisesRegex(trnsim.Error, "sequences"):
                trnsim.project(job, samples=number, suggestions=0)

    def test_a_price_of_ones_own_is_that_of_every_answer(self):
        mine = ("trn1.2xlarge", {"price.on_demand": "$3/h"})
        p = trnsim.project("llama-small", samples=1000, machine=mine, suggestions=0)
        self.assertEqual(trnsim.cost("llama-small", samples=1000, machine=mine)[0]["on_demand"], p.dollars)

    def test_prices_are_those_of_the_command_line(self):
        table = trnsim.cost(seconds=3600, instance_type="trn1.2xlarge", epochs=3)
        told = command("cost", "--runtime", "3600 s", "--instance_type", "trn1.2xlarge", "--epochs", "3")
        self.assertEqual(table.rows, told)
        self.assertEqual(table["on_demand"].dtype, numpy.float64)

    def test_a_job_is_priced_with_its_settings(self):
        table = trnsim.cost("llama-small", samples=1000, length=64, lora_r=4, machine="trn1.2xlarge", instances=1,
                            lora_target_modules=["q_proj", "v_proj"])
        told = command("cost", "llama-small", "--samples", "1000", "--max_length", "64", "--lora_r", "4",
                       "--lora_target_modules", "q_proj,v_proj", "--instance_type", "trn1.2xlarge", "--instances", "1")
        self.assertEqual(table.rows, told)

    def test_a_choice_is_that_of_the_command_line(self):
        heard = []
        table = trnsim.choose("llama-small", samples=3000, length=128, lora_r=4, instance_types="trn1.2xlarge",
                              global_batch_size=8, progress=lambda done, all: heard.append(all))
        told = command("choose", "llama-small", "--samples", "3000", "--max_length", "128", "--lora_r", "4",
                       "--instance_types", "trn1.2xlarge", "--global_batch_size", "8")
        self.assertEqual([{k: v for k, v in row.items() if k != "settings"} for row in table],
                         [{k: v for k, v in row.items() if k != "flags"} for row in told])
        self.assertTrue(heard)
        p = trnsim.project("llama-small", sequences=3000, length=128, lora_r=4, suggestions=0, **table[0]["settings"])
        self.assertEqual((p.seconds, p.dollars), (table[0]["seconds"], table[0]["dollars"]))
        with self.assertRaisesRegex(trnsim.Error, "requests"):
            trnsim.choose("llama-small", samples=10, task="inference")

    def test_measurements_are_predicted_the_same(self):
        file = SOURCE / "validation/tables/micro.csv"
        table = trnsim.validate(file, only=["silu"])
        self.assertEqual(table.rows, command("validate", str(file), "--only", "silu"))

    def test_lists_are_those_of_the_registries(self):
        self.assertEqual(trnsim.list("workloads").rows, command("list", "workloads"))
        self.assertEqual(trnsim.parameters("trn1.2xlarge", "hbm").rows,
                         command("params", "trn1.2xlarge", "--prefix", "hbm"))


class Training(unittest.TestCase):
    def test_every_step_is_heard_and_the_run_opens(self):
        heard = []
        with tempfile.TemporaryDirectory() as folder:
            run = trnsim.train("bert_emotion", output_dir=folder + "/run", step=heard.append, **TINY_TRAINING)
            self.assertEqual([r["step"] for r in heard], [1, 2, 3])
            self.assertEqual(list(run.steps["loss"]), [r["loss"] for r in heard])
            self.assertEqual(run.metrics["steps"], 3)
            self.assertEqual(trnsim.open(folder + "/run").result, run.result)

    def test_an_exception_of_the_callback_ends_it_after_the_checkpoint(self):
        class Enough(Exception):
            pass

        def stop(record):
            raise Enough

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(Enough):
                trnsim.train("bert_emotion", output_dir=folder + "/run", step=stop, **{**TINY_TRAINING, "steps": 500})
            self.assertTrue(trnsim.open(folder + "/run").metrics["interrupted"])


class Behaviour(unittest.TestCase):
    def test_errors_have_their_parts(self):
        with self.assertRaises(trnsim.Error) as caught:
            trnsim.project("llama-small", per_device_train_batch_sise=2)
        self.assertIn("unknown option 'per_device_train_batch_sise'", caught.exception.what)
        self.assertIn("per_device_train_batch_size", caught.exception.fix)
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaises(trnsim.Error) as caught:
            trnsim.project("llama-small", lenght=5)
        self.assertEqual(caught.exception.fix, 'write "length"')
        for number in (float("nan"), float("inf")):
            with self.assertRaises(trnsim.Error) as caught:
                trnsim.project("llama-small", sequences=number)
            self.assertEqual(caught.exception.where, "`sequences`")
        with self.assertRaises(trnsim.Error) as caught:
            trnsim.project("llama-small", machine=("trn1.2xlarge", {"hbm.bytes": "1 MiB"}))
        self.assertEqual(caught.exception.exit_code, 3)
        self.assertIn("does not fit", caught.exception.what)
        with self.assertRaises(trnsim.Error):
            trnsim.open("no/such/folder")

    def test_another_build_of_the_module_compiles_anew(self):
        code = "import sys, trnsim; trnsim.project('llama-small', suggestions=0, compile_cache=sys.argv[1])"
        package = pathlib.Path(trnsim.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            cache, kept = pathlib.Path(folder, "programs"), []
            other = shutil.copytree(package, pathlib.Path(folder, "trnsim"))
            for where in (package.parent, package.parent, folder):
                environment = {**os.environ, "PYTHONPATH": str(where)}
                subprocess.run([sys.executable, "-c", code, cache], env=environment, check=True)
                kept.append(len(list(cache.iterdir())))
                with open(next(other.glob("_core*.so")), "ab") as module:
                    module.write(b"1")  # behind its end: its behaviour is the same
            self.assertEqual(kept, [1, 1, 2])

    def test_an_interrupt_ends_it_at_once_and_the_lock_is_free(self):
        counted, begin = [], []
        main = threading.main_thread().ident

        def interrupt():
            for _ in range(10):  # Python goes on meanwhile
                time.sleep(0.05)
                counted.append(1)
            begin.append(time.process_time())
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            for length in itertools.count(1024, 128):  # each is compiled anew: a fast host does not end before
                trnsim.project("llama2-7b", tensor_parallel_size=8, zero_1=True, max_length=length)
        thread.join()
        self.assertEqual(len(counted), 10)
        self.assertLess(time.process_time() - begin[0], 5)

    def test_a_sweep_is_columns_and_tells_how_far_it_is(self):
        heard = []
        table = trnsim.sweep("vit_mnist", {"hbm.bandwidth": ["1x", "2x"]}, processes=2,
                             progress=lambda done, all: heard.append((done, all)))
        self.assertEqual(list(table["hbm.bandwidth"]), ["1x", "2x"])
        seconds = table["seconds"]
        self.assertEqual(seconds.dtype, numpy.float64)
        self.assertLessEqual(seconds[1], seconds[0])
        self.assertEqual(set(table.columns), set(table.names))
        self.assertTrue(all(all == 2 for _, all in heard))

    def test_programs_check_themselves(self):
        text = """func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %a, dense<[1, EXPECTED]> : tensor<2xi32>
  return
}
"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.mlir"
            path.write_text(text.replace("EXPECTED", "2") + "// -----\n" + text.replace("EXPECTED", "3"))
            table = trnsim.verify(path)
        self.assertEqual(list(table["verdict"]), ["right", "wrong"])
        self.assertEqual(list(table["line"]), [1, 7])
        self.assertIn("element 1 is 2, expected 3", table[1]["reason"])

    def test_columns_keep_their_kinds(self):
        table = trnsim.Table([{"a": 1, "b": 0.5, "c": "x"}, {"a": 2, "b": None, "c": "y"}])
        self.assertEqual(table["a"].dtype, numpy.int64)
        self.assertTrue(numpy.isnan(table["b"][1]))
        self.assertEqual(list(table["c"]), ["x", "y"])
        with self.assertRaises(KeyError):
            table["d"]


class Notebook(unittest.TestCase):
    def test_its_cells_run(self):
        cells = json.loads((SOURCE / "examples/what_if.ipynb").read_text())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        names = {}
        exec(compile(code, "what_if.ipynb", "exec"), names)
        self.assertGreater(names["wider"].samples_per_second, names["job"].samples_per_second)
        self.assertGreaterEqual(names["faster"].samples_per_second, names["job"].samples_per_second)


if __name__ == "__main__":
    unittest.main()
