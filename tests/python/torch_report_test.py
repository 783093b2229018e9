"""The report of a script: the line of a cut, and suggestions that are for this script."""
import pathlib
import sys
import tempfile
import unittest

import forked

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
import torch_xla.core.xla_model as xm
torch.manual_seed(0)
def training(*sizes):
    model = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]).to("xla")
    return model, torch.optim.SGD(model.parameters(), lr=0.1)
def step(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss
"""


@unittest.skipIf(torch is None, "no torch: install python3-torch")
class Report(unittest.TestCase):
    def report(self, text, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(HEAD + text)
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--output_dir", folder + "/out", *flags,
                               str(path)], cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stderr

    def test_cuts_inside_the_standard_library_have_the_scripts_line(self):
        report = self.report("""
import torch_xla
def one(x):
    return x * 2
compiled = torch_xla.compile(one)
for _ in range(2):
    compiled(torch.ones(3).to("xla"))
""", "--numeric")
        self.assertNotIn("contextlib", report)
        self.assertRegex(report, r"graph0 .*script.py:20: first")

    def test_all_resources_of_the_device_may_bind(self):
        text = "x = torch.zeros(16 * 4096, 4096).to('xla')\nfor _ in range(3):\n    x += 1.5\n    xm.mark_step()\n"
        self.assertRegex(self.report(text, "--timed"), r"bound by +the device: its DMA engines are busy [5-9]\d %")

    def test_reads_behind_the_loop_are_none_inside(self):
        loop = """
model, optimizer = training(4, 3)
losses = []
for _ in range(5):
    losses.append(step(model, optimizer, torch.ones(2, 4).to("xla")))
    xm.mark_step()
    READ
"""
        behind = "for loss in losses: print((loss * 2).item(), (loss * 3).item())\n"
        self.assertNotIn("reads cut graphs", self.report(loop.replace("READ", "") + behind))
        inside = self.report(loop.replace("READ", "print((losses[-1] * 2).item(), (losses[-1] * 3).item())"))
        self.assertIn("8 reads cut graphs in 4 steps", inside)

    def test_only_batches_of_other_sizes_are_to_be_padded(self):
        layers = self.report("""
for sizes in ((8, 6), (8, 5), (8, 4), (8, 7)):
    model, optimizer = training(*sizes)
    for _ in range(2):
        step(model, optimizer, torch.ones(2, 8).to("xla"))
        xm.mark_step()
""")
        self.assertNotIn("pad batches", layers)
        batches = self.report("""
model, optimizer = training(8, 6)
for count in (4, 3, 2, 4, 3, 2):
    step(model, optimizer, torch.ones(count, 8).to("xla"))
    xm.mark_step()
""")
        self.assertIn("2 graphs differ only in shapes: pad batches", batches)


if __name__ == "__main__":
    unittest.main()
