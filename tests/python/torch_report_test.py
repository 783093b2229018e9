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


if __name__ == "__main__":
    unittest.main()
