"""examples/torch: train.py, the script that docs/your_script.md leads through, has PyTorch's losses on the CPU."""
import math
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

try:
    import torch
except ImportError:
    torch = None

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch" / "train.py"


def batch(step, rank, size=16):
    x = torch.randn(size, 40, generator=torch.Generator().manual_seed(1000 * step + rank))
    return x, x.view(size, 10, 4).sum(2).argmax(1)


def on_cpu(cores, steps=5):
    """The losses of rank 0; gradients are the mean over the ranks."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.GELU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        of_ranks = [torch.nn.functional.cross_entropy(model(x), y) for x, y in (batch(step, r) for r in range(cores))]
        (sum(of_ranks) / cores).backward()
        optimizer.step()
        losses.append(of_ranks[0].item())
    return losses


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Example(unittest.TestCase):
    def run_script(self, settings, arguments, script=SCRIPT):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.environ["TRNSIM_BINARY"], "torch", "--output_dir", f"{folder}/out", *settings,
                                   str(script), *arguments], capture_output=True, text=True, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return [float(x) for x in re.findall(r"loss (\S+)", done.stdout)], done.stderr

    def same(self, losses, cores):
        there = on_cpu(cores)
        self.assertEqual(len(losses), len(there))
        for a, b in zip(losses, there):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-4), f"{a} and on the CPU {b}")

    def test_one_core(self):
        losses, report = self.run_script([], ["--one"])
        self.same(losses, 1)
        self.assertIn("simulated device: 1 core", report)

    def test_two_cores_that_spawn_starts(self):
        self.same(self.run_script(["--cores", "2"], [])[0], 2)

    def test_a_model_divided_among_cores_learns(self):
        script = SCRIPT.parent / "tensor_parallel.py"
        losses, report = self.run_script(["--cores", "4"], ["--layers", "1"], script)
        self.assertEqual(len(losses), 5)
        self.assertLess(losses[-1], 0.9 * losses[0])
        self.assertRegex(report, r"4 cores \*+\ncomputed by +the simulated instructions\n")
        self.assertNotIn("differ by core", report)

    def test_more_steps_have_a_price(self):
        self.assertRegex(self.run_script(["--steps", "100000"], ["--one"])[1], r"100,?000 steps")


if __name__ == "__main__":
    unittest.main()
