"""Every documented name of NKI is there, with the documented parameters; wrong calls are one error with their line."""
import inspect
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import trnsim
import trnsim.nki
from trnsim.nki import _check, _listing, isa, language
from trnsim.nki._newer import isa as newer_isa
from trnsim.nki._newer import language as newer_language

HERE = pathlib.Path(__file__).parent
MODULES = {("neuronxcc.nki", "nl"): language, ("neuronxcc.nki", "nisa"): isa,
           ("nki", "nl"): newer_language, ("nki", "nisa"): newer_isa}


def documented():
    """(dialect, name) of each name in the list."""
    out, dialect, prefix = [], "", ""
    for line in (HERE / "nki_names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            release, module = line[1:-1].split(", ")
            dialect = "neuronxcc.nki" if release.startswith("2.26") else "nki"
            prefix = {"nki.language": "nl", "nki.isa": "nisa"}[module]
        elif not line.startswith("#"):
            out += [(dialect, f"{prefix}.{name}") for name in line.split()]
    return out


class Names(unittest.TestCase):
    def test_every_documented_name_is_in_the_table(self):
        missing = [n for n in documented() if n[1] not in _listing.DIALECTS[n[0]]]
        self.assertGreater(len(documented()), 300)
        self.assertEqual(missing, [])

    def test_every_name_of_the_table_is_there_or_refused(self):
        for dialect, table in _listing.DIALECTS.items():
            for name, row in table.items():
                prefix, _, short = name.partition(".")
                try:
                    getattr(MODULES[dialect, prefix], short)
                except trnsim.Error as error:
                    self.assertGreater(row.first, 3, f"{dialect}: {error}")

    def test_functions_have_the_documented_parameters(self):
        wrong = []
        for dialect, table in _listing.DIALECTS.items():
            for name, row in table.items():
                prefix, _, short = name.partition(".")
                function = vars(MODULES[dialect, prefix]).get(short)
                if row.parameters is None or not inspect.isfunction(function):
                    continue
                own = [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]
                want = [(p.name, p.kind) for p in row.signature().parameters.values()]
                if own != want and name not in DIFFERENT:
                    wrong.append(f"{dialect} {name}: {inspect.signature(function)}, documented ({row.parameters})")
        self.assertEqual(wrong, [])

    def test_the_listing_is_made_of_the_table(self):
        entries = json.loads(_listing.listing("json"))
        self.assertEqual(len(entries), sum(len(t) for t in _listing.DIALECTS.values()))
        refused = {e["name"] for e in entries if e["refused"]}
        self.assertIn("nisa.exponential", refused)
        self.assertNotIn("nisa.nc_matmul", refused)


# Kernels in print give these more than the documented parameters, or they take any arguments.
DIFFERENT = {"nl.ndarray", "nl.zeros", "nl.ones", "nl.full", "nl.zeros_like", "nl.empty_like", "nl.sequential_range",
             "nl.device_print"}


def script(body, imports="import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\n"
                         "import neuronxcc.nki.language as nl\n"):
    """The run of a kernel with this body."""
    text = ("import numpy as np\n" + imports + "@nki.jit\ndef k(x):\n    t = nl.load(x)\n    " + body
            + "\n    return x\nk(np.ones((128, 64), np.float32))\n")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        return subprocess.run([sys.executable, "-m", "trnsim.nki", file.name], capture_output=True, text=True)


class WrongCalls(unittest.TestCase):
    def test_each_is_one_error_with_its_line(self):
        line = 8
        for body, words in {
                "nisa.tensor_copy(dst=t, src=t)": "dst", "nisa.activation(np.exp, t, bais=t)": "bais",
                "nisa.activation(np.exp, t, bias='a')": "not a tile or a number",
                "nl.add(t, 'x')": "not a tile or a number", "nisa.tensor_reduce(3, t, 1)": "no operation",
                "nisa.tensor_reduce(np.add, t, 1.5)": "not a number, or a tuple",
                "nl.exp(t, mask=3)": "not a comparison",
                "nisa.tensor_copy(t, engine=1)": "nisa.engine", "nl.zeros((-1, 4), nl.float32)": "shape",
                "nl.zeros((128.5, 4), nl.float32)": "shape",
                "nl.quantum(t)": "not supported"}.items():
            ran = script(body)
            self.assertEqual(ran.returncode, 2, body + ran.stderr)
            self.assertIn(f".py:{line}: ", ran.stderr, body)
            self.assertIn(words, ran.stderr, body)
            self.assertEqual(ran.stderr.count("\n"), 2, ran.stderr)

    def test_a_wrong_command_line_is_one_error(self):
        for words in ("nki --no_such_flag", "nki --lines x a.py", "nki tune", "nki --rank", "nki",
                      "torch --no_such_flag", "torch --cores x a.py", "torch"):
            ran = subprocess.run([sys.executable, "-m", *f"trnsim.{words}".split()], capture_output=True, text=True)
            lines = ran.stderr.splitlines()
            self.assertEqual((ran.returncode, len(lines), lines[-1][:7]), (2, 2, "  fix: "), ran.stderr)

    def test_calls_of_the_older_dialect_are_refused_by_the_newer(self):
        newer = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n"
        for body in ("nisa.tensor_copy(t)", "nl.exp(t, mask=None)", "nl.arange(4)", "nisa.tensor_tensor(t, t, np.add)"):
            ran = script(body, newer)
            self.assertEqual(ran.returncode, 2, body + ran.stdout)
            self.assertIn(".py:8: ", ran.stderr, body)


class Check(unittest.TestCase):
    def found(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(text)
            file.flush()
            return _check.check(file.name)

    def test_a_script_of_each_dialect(self):
        older = ("import neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
                 "y = nisa.tensor_copy(x, mask=m)\n")
        found = self.found(older)
        self.assertEqual(found["dialects"], ["neuronxcc.nki"])
        self.assertEqual([b[0] for b in found["breaches"]["nki"]], [1, 2, 3])
        newer = "import nki.isa as nisa\nimport nki.language as nl\nnisa.tensor_copy(dst=y, src=x)\n"
        self.assertEqual(self.found(newer)["dialects"], ["nki"])

    def test_text_names_the_line(self):
        words = _check.text([self.found("import nki.language as nl\na = nl.arange(4)\n")], "text")
        self.assertIn("not nki: line 2: nl.arange is of neuronxcc.nki alone", words)


if __name__ == "__main__":
    unittest.main()
