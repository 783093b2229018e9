"""Files that NKI's and the front end's commands write, while calls fail: a disk that fails, fills up, is slow, or a
kill at that moment. An old file stays whole or is replaced whole; the command says what happened and how to mend
it; the next one is as any other. Some calls; all of them with TRNSIM_FAULTS=all."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("TRNSIM_BINARY", "")
SPOILER = pathlib.Path(BINARY).parent / "libtrnsim_fail_io.so"
KERNEL = str(ROOT / "examples/nki/vector_add.py")
NKI = [sys.executable, "-B", "-m", "trnsim.nki"]
OLD = b"what was there before\n"


@unittest.skipUnless(BINARY and SPOILER.exists(), "TRNSIM_BINARY names no build with the library of failing calls")
class Writers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name) / "out"

    def tearDown(self):
        self.folder.cleanup()

    def run_with(self, command, number=0, how="EIO"):
        """The run, and how many calls it made that change a file."""
        count = pathlib.Path(self.folder.name) / "count"
        set_by = {"FAIL_IO_AT": str(number), "FAIL_IO_HOW": how, "FAIL_IO_COUNT": str(count),
                  "LD_PRELOAD": str(SPOILER), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
        ran = subprocess.run(command, capture_output=True, text=True, cwd=self.folder.name, timeout=1200, check=False,
                             env={**os.environ, **set_by})
        return ran, int(count.read_text()) if count.exists() else 0

    def fresh(self, names):
        self.out.mkdir(exist_ok=True)
        for path in self.out.iterdir():
            path.unlink()
        for name in names:
            (self.out / name).write_bytes(OLD)

    def contents(self):
        return {path.name: path.read_bytes() for path in self.out.iterdir()}

    def check_one(self, command, names, wanted, ran):
        if ran.returncode == 0:
            self.assertEqual(self.contents(), wanted)
            return
        if ran.returncode > 0 and ran.returncode != 137:
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn("\n  fix: ", ran.stderr)
            self.assertNotIn("Traceback", ran.stderr)
            self.assertNotIn("internal error", ran.stderr)
        left = self.contents()
        for name in names:
            self.assertIn(left.get(name), (OLD, wanted[name]), f"{name} is neither the old one nor the new one")
        again, _ = self.run_with(command)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.contents(), wanted)

    def walk(self, command, *names):
        command = [str(part) for part in command]
        self.fresh(names)
        whole, calls = self.run_with(command)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        wanted = self.contents()
        self.assertEqual(set(names), set(wanted))
        self.assertGreater(calls, 1)
        step = 1 if os.environ.get("TRNSIM_FAULTS") else calls // 5 + 1
        for how in ("EIO", "ENOSPC", "EINTR", "SHORT", "KILL"):
            for number in range(1, calls + 1, step):
                with self.subTest(f"{how} at call {number} of {calls}"):
                    self.fresh(names)
                    self.check_one(command, names, wanted, self.run_with(command, number, how)[0])

    def test_a_report_of_kernels(self):
        self.walk([*NKI, "--report", self.out / "page.html", KERNEL], "page.html")

    def test_a_trace_of_kernels(self):
        self.walk([*NKI, "--trace", self.out / "out.json", KERNEL], "out.json")

    def test_a_profile_of_a_kernel(self):
        script = pathlib.Path(self.folder.name) / "profiled.py"
        script.write_text("import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n"
                          f"@nki.profile(working_directory={str(self.out)!r})\ndef k(a):\n"
                          "    out = nl.ndarray((128, 8), np.float32, buffer=nl.shared_hbm)\n"
                          "    nl.store(out, nl.load(a))\n    return out\nk(np.ones((128, 8), np.float32))\n")
        self.walk([*NKI, script], "k.json", "k.trace.json")

    def test_files_that_pass(self):
        """A rank keeps the first kernel's results in a folder of its own."""
        command = [*NKI, "--rank", KERNEL, str(ROOT / "examples/nki/softmax.py"), "--no_cache", "--processes", "1"]
        calls = self.run_with(command)[1]
        step = 1 if os.environ.get("TRNSIM_FAULTS") else calls // 5 + 1
        for how in ("EIO", "ENOSPC"):
            for number in range(1, calls + 1, step):
                with self.subTest(f"{how} at call {number} of {calls}"):
                    ran = self.run_with(command, number, how)[0]
                    self.assertNotIn("Traceback", ran.stderr)
                    self.assertTrue(ran.returncode == 0 or "\n  fix: " in ran.stderr + ran.stdout, ran.stderr)

    def test_a_folder_of_results_that_cannot_be(self):
        script = pathlib.Path(self.folder.name) / "empty.py"
        script.write_text("")
        command = [sys.executable, "-B", "-m", "trnsim.torch", "--output_dir", "/proc/nothing", str(script)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertNotIn("Traceback", ran.stderr)
        self.assertIn("\n  fix: ", ran.stderr)

    def test_steps_as_programs_of_other_frameworks(self):
        for kind in ("hlo", "hlo-proto"):
            self.walk([BINARY, "compile", "vit_mnist", "--emit", kind, "--output", self.out / "step.hlo"], "step.hlo")

    def test_programs_in_assembly(self):
        self.walk([BINARY, "compile", "vit_mnist", "--emit", "asm", "--output", self.out / "step.asm"], "step.asm")


if __name__ == "__main__":
    unittest.main()
