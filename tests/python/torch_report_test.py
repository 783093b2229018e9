"""The report of a script: the line of a cut, and suggestions that are for this script."""
import pathlib
import sys
import tempfile
import unittest

import forked
import trnsim

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
NUMBERS = """
import sys
import torch_xla.debug.metrics as met
def put(x, s):
    x = x.clone()
    x[0] = s
    return x
CASES = dict(
    full=lambda x, s: torch.full((2, 3), s, device=x.device), put=put, part=lambda x, s: put(x.t(), s),
    long=lambda x, s: torch.full((2,), int(s), device=x.device), gt=lambda x, s: x > s, pow=lambda x, s: x ** s,
    full_like=torch.full_like, new_full=lambda x, s: x.new_full((4,), s), fill=lambda x, s: x.clone().fill_(s),
    whole=lambda x, s: (10 * x).long() > s, where=lambda x, s: torch.where(x > 2, x, s),
    le=lambda x, s: x.half() <= s, clamp=lambda x, s: x.clamp(s / 9, max=s),
    masked=lambda x, s: x.masked_fill(x > 2, s), inside=lambda x, s: x.clone().masked_fill_(x > 2, s),
    product=lambda x, s: torch.baddbmm(x[None], x[None], x.new_ones(1, 3, 3), beta=s, alpha=s / 9),
    rest=lambda x, s: x % s, fmod=lambda x, s: (-x).fmod(s),
    scalar=lambda x, s: x * torch.scalar_tensor(s, device=x.device),
    norm=lambda x, s: F.batch_norm(x, x.new_zeros(3), x.new_ones(3), training=True, momentum=s / 9))
x = 4 * torch.rand(2, 3)
there = x.to("xla")
xm.mark_step()
for name, case in CASES.items():
    before = met.counter_value("UncachedCompile") or 0
    for s in (2.5, 3.25, 5.75, 4.5):
        got = case(there, s)
        xm.mark_step()
        compiled = met.counter_value("UncachedCompile") or 0
        want = case(x, s)
        assert got.dtype == want.dtype and torch.allclose(got.cpu(), want, atol=1e-5), (name, s, got, want)
        assert met.counter_value("UncachedCompile") == compiled, name
    if compiled - before > 1:
        print("recompiled", name, compiled - before, file=sys.stderr)
y = torch.full((3,), float("-inf"), device="xla")
assert y.tolist() == [float("-inf")] * 3
"""


@unittest.skipUnless(forked.is_there("torch"), "no torch: install python3-torch")
class Report(unittest.TestCase):
    def report(self, text, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(HEAD + text)
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--output_dir", folder + "/out", *flags,
                               str(path)], cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stderr

    def test_a_graph_that_its_line_has_for_the_first_time_is_no_recompilation(self):
        told = self.report("""
model, optimizer = training(4, 3)
for size in (2, 2, 2, 5):
    loss = step(model, optimizer, torch.ones(size, 4).to("xla"))
    xm.mark_step()
right = model(torch.ones(7, 4).to("xla")).sum()
xm.mark_step()
print(right.exp().item())
print(loss.log().item())
""", "--numeric")
        self.assertIn("6 compiled, 2 of them recompilations; 7 runs", told)  # the first step's, and 5 rows

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

    def test_more_cores_than_the_machine_has(self):
        told = self.report("""
import torch_xla.distributed.xla_multiprocessing as xmp
def f(rank):
    xm.all_reduce("sum", torch.ones(4, device=xm.xla_device())).cpu()
xmp.spawn(f, nprocs=3)
""", "--instance_type", "trn1.2xlarge")
        self.assertRegex(told, r"time of the machine +none: 3 cores, but trn1.2xlarge has 2\n")

    def test_copies_that_may_matter_are_told(self):
        text = """
for _ in range(3):
    x = torch.zeros(2048, SIZE).to("xla")
    y = x + 1.5
    xm.mark_step()
    y.cpu()
"""
        self.assertRegex(self.report(text.replace("SIZE", "4096")),
                         r"not in these times +32 MiB to the device and 32 MiB back in a step: 18\.2 ms at 3\.68 GB/s")
        self.assertNotIn("not in these times", self.report(text.replace("2048, SIZE", "8, 8")))

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

    def test_pieces_of_steps_are_no_batches(self):
        sharded = self.report("""
import torch_xla.distributed.xla_multiprocessing as xmp
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
def f(rank):
    model = training(8, 6, 5, 4)[0]
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    for s in range(3):
        loss = step(model, optimizer, torch.ones(2, 8).to("xla") * (2.0 if rank else 1))
        print(loss.item())
xmp.spawn(f, nprocs=2)
""")
        self.assertRegex(sharded, r"cut by +\d+ x collectives of graphs that differ by core")
        self.assertNotIn("pad batches", sharded)
        reads = self.report("""
model, optimizer = training(8, 8, 8)
for s in range(3):
    loss = step(model, optimizer, torch.ones(2, 8).to("xla"))
    xm.mark_step()
    for size in (2, 3, 4, 5, 6):
        print((torch.ones(size).to("xla") * 2).sum().item())
""")
        self.assertNotIn("pad batches", reads)

    def test_each_graph_is_timed_alike_whatever_was_timed_before(self):
        from trnsim.torch import _time
        program = ROOT / "examples" / "graph" / "mlp_step.mlir"
        job = {"job": str(program), "settings": {"mode": "timed", "suggestions": "0"}, "set": []}
        refused = dict(job, settings=dict(job["settings"], instance_type="trn9"))
        heard = []
        _time.asked([job, refused, job, dict(job, job="no.mlir")], heard.append)
        self.assertEqual([type(one).__name__ for one in heard], ["dict", "Error", "dict", "Error"])
        self.assertRegex(str(heard[1]), "trn9")
        alone = trnsim.project(str(program), suggestions=0)
        for one in (heard[0], heard[2]):
            for figure in ("step_seconds", "device_step_seconds", "compile_seconds"):
                self.assertEqual(_time.timed(one)[figure], getattr(alone, figure))

    def test_asking_ends_when_its_time_is_over(self):
        from trnsim.torch import _time

        def hear(answer):
            heard.append(answer)
            raise _time.Late
        job = {"job": str(ROOT / "examples" / "graph" / "mlp_step.mlir"), "settings": {"mode": "timed"}, "set": []}
        heard = []
        self.assertRaises(_time.Late, _time.asked, [job, job], hear)
        self.assertEqual(len(heard), 1)

    def test_numbers_that_change_are_no_compilations(self):
        report = self.report(NUMBERS)
        self.assertNotIn("recompiled", report)


if __name__ == "__main__":
    unittest.main()
