"""Training steps written as HLO and read again: the same instructions in the same order, so the same time and bits."""
import os
import re
import subprocess
import tempfile
import unittest

BINARY = os.environ["TRNSIM_BINARY"]
WORKLOADS = ("bert_emotion", "vit_mnist", "t5_small_summarize", "llama2_7b_dolly")


def compiled(target, kind, path):
    """Writes a form of a workload's or a file's program; returns the text."""
    subprocess.run([BINARY, "compile", target, "--emit", kind, "--output", path], check=True, capture_output=True)
    with open(path, encoding="utf-8") as file:
        return file.read()


def instructions(text):
    """The blocks and calls of an assembler text without names and addresses of tensors, which the file numbers anew."""
    lines = [line for line in text.splitlines() if not line.startswith(("region ", "program "))]
    return [re.sub(r"^(call \d+) \[[^\]]*\]", r"\1", line) for line in lines]


class ExportedGraphs(unittest.TestCase):
    def test_same_instructions(self):
        for name in WORKLOADS:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                hlo = os.path.join(folder, "step.hlo")
                self.assertIn("HloModule", compiled(name, "hlo", hlo))
                own = instructions(compiled(name, "asm", os.path.join(folder, "own.asm")))
                read = instructions(compiled(hlo, "asm", os.path.join(folder, "read.asm")))
                self.assertGreater(len(own), 1000)
                self.assertTrue(own == read, f"{name}: the instructions of the file differ")


if __name__ == "__main__":
    unittest.main()
