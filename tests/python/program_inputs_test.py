"""`trnsim run PROGRAM --mode numeric --inputs FILE.npz`: NumPy's files as a program's inputs."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

BINARY = os.environ["TRNSIM_BINARY"]
PROGRAM = """HloModule m
ENTRY main {
x = f32[3,4] parameter(0)
i = s32[4] parameter(1)
t = pred[] parameter(2)
f = f32[4] convert(i)
b = f32[3,4] broadcast(f), dimensions={1}
n = f32[3,4] divide(x, b)
p = pred[3,4] broadcast(t), dimensions={}
ROOT y = f32[3,4] select(p, n, x)
}
"""


class Inputs(unittest.TestCase):
    def run_it(self, save=numpy.savez, more=(), **arrays):
        with tempfile.TemporaryDirectory() as folder:
            path, npz = pathlib.Path(folder, "p.hlo"), pathlib.Path(folder, "in.npz")
            path.write_text(PROGRAM)
            save(npz, *arrays.pop("plain", ()), **arrays)
            if "cut" in more:
                npz.write_bytes(npz.read_bytes()[:-40])
            return subprocess.run([BINARY, "run", str(path), "--mode", "numeric", "--inputs", str(npz)],
                                  capture_output=True, text=True, check=False)

    def test_a_program_has_steps_and_its_own_types(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.hlo")
            path.write_text("HloModule m\nENTRY main {\nx = bf16[64,64] parameter(0)\n"
                            "ROOT y = bf16[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n")
            for steps, said in (("100", r"[\d.]+ steps/s"), ("1", r"a step, [\d.]+ steps/s[^@]*for a thousand steps")):
                told = subprocess.run([BINARY, "run", str(path), "--max_steps", steps], capture_output=True, text=True,
                                      check=False, cwd=folder).stdout
                self.assertRegex(told, said)
                self.assertIn("the program's types, matmuls of fp32 cast to bf16 by the compiler, unless", told)
                self.assertNotIn("fp32 weights", told)

    def arrays(self):
        return [numpy.arange(12, dtype="f4").reshape(3, 4), numpy.array([1, 2, 0, 4], "i4"), numpy.array(True)]

    def test_arrays_by_order_number_and_name(self):
        x, i, t = self.arrays()
        for done in (self.run_it(plain=(x, i, t)), self.run_it(numpy.savez_compressed, arg1=i, arg0=x, arg2=t),
                     self.run_it(x=x, index=i, truth=t)):
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"f32\[3,4\] +0 +as the reference")  # also of divisions by zero

    def test_other_arrays_are_errors(self):
        x, i, t = self.arrays()
        for done, words in ((self.run_it(plain=(x, i)), "has 2 arrays, but the program has 3 parameters"),
                            (self.run_it(plain=(x.T, i, t)), "is in Fortran order"),
                            (self.run_it(plain=(x[:2], i, t)), "is tensor<2x4xf32>, but parameter 0 is tensor<3x4"),
                            (self.run_it(plain=(x, i.astype("f8"), t)), "parameter 1 is tensor<4xi32>"),
                            (self.run_it(plain=(x, i, numpy.array("text"))), "has a type that programs do not have"),
                            (self.run_it(plain=(x, i, t), more=("cut",)), "is not an archive of arrays")):
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("error"), 1)

    def test_inputs_are_of_programs_that_are_computed(self):
        done = subprocess.run([BINARY, "run", "bert_emotion", "--inputs", "x.npz"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--inputs: are inputs of a program that is computed", done.stderr)


if __name__ == "__main__":
    unittest.main()
