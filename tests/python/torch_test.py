"""PyTorch scripts on the simulated device against the CPU: losses of each step, graphs, collectives, errors."""
import os
import pathlib
import re
import sys
import tempfile
import unittest

import forked

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEAD = "import torch, torch.nn as nn, torch.nn.functional as F\n"
LOOP = """
import sys
device = sys.argv[1]
torch.manual_seed(0)
model = make().to(device)
optimizer = optimizer_of(model.parameters())
for step in range(5):
    g = torch.Generator().manual_seed(step)
    x, y = data(g)
    optimizer.zero_grad()
    loss = F.nll_loss(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    print("loss", repr(loss.item()))
"""
ROWS = """
def data(g): return torch.randn(8, 20, generator=g), torch.randint(0, 5, (8,), generator=g)
def make(): return nn.Sequential(nn.Linear(20, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 5), nn.LogSoftmax(1))
"""
PICTURES = """
def data(g): return torch.randn(4, 1, 14, 14, generator=g), torch.randint(0, 10, (4,), generator=g)
def make(): return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16),
                                 nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(), nn.Linear(400, 10), nn.LogSoftmax(1))
"""
WORDS = """
def data(g): return torch.randint(0, 30, (7, 3), generator=g), torch.randint(0, 30, (21,), generator=g)
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(30, 16), nn.Linear(16, 30)
        layer = nn.TransformerEncoderLayer(16, 2, 32)
        self.inside = nn.LSTM(16, 16, 2) if recurrent else nn.TransformerEncoder(layer, 2)
    def forward(self, x):
        out = self.inside(F.dropout(self.table(x), 0.1, self.training))
        return F.log_softmax(self.last(out[0] if recurrent else out).view(-1, 30), 1)
def make(): return Words()
"""


def run(path, *arguments, settings=(), module=True):
    command = [sys.executable, "-B"] + (["-m", "trnsim.torch", *settings] if module else []) + [str(path), *arguments]
    return forked.run(command, env=dict(os.environ, NEURON_RT_NUM_CORES="2"))


def losses(text):
    return [float(x) for x in re.findall(r"loss ([-+.0-9e]+)", text)]


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "script.py"

    def tearDown(self):
        self.folder.cleanup()

    def same(self, optimizer, *parts):
        self.path.write_text(HEAD + "\n".join(parts) + f"\noptimizer_of = lambda p: torch.optim.{optimizer}\n" + LOOP)
        here, there = run(self.path, "xla"), run(self.path, "cpu", module=False)
        self.assertEqual((here.returncode, there.returncode), (0, 0), here.stderr)
        got, expected = losses(here.stdout), losses(there.stdout)
        self.assertEqual(len(got), 5)
        for a, b in zip(got, expected):
            self.assertLess(abs(a - b), 1e-5 * abs(b))
        return here.stderr

    def test_adam_has_two_programs_although_its_numbers_change(self):
        report = self.same("Adam(p, 0.01)", ROWS)
        self.assertRegex(report, r"graphs +2 compiled")

    def test_equal_numbers_are_one_parameter(self):
        self.path.write_text("import torch, torch_xla.core.xla_model as xm\n"
                             "x = torch.arange(4.0).to('xla')\n"
                             "for a, b in ((2.5, 2.5), (7.0, 7.0), (7.0, 2.5)):\n"
                             "    y = (x * a + b) / 5.0\n    xm.mark_step()\n"
                             "    assert torch.equal(y.cpu(), (torch.arange(4.0) * a + b) / 5.0)\n")
        done = run(self.path, settings=("--output_dir", self.folder.name + "/out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"graphs +2 compiled")  # with other equal numbers it is the same
        graphs = [(pathlib.Path(self.folder.name) / "out" / f"graph{i}.mlir").read_text() for i in (0, 1)]
        self.assertEqual([len(re.findall(r"%arg\d+:", graph)) for graph in graphs], [3, 4])

    def test_momentum(self):
        self.same("SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.1)", ROWS)

    def test_convolutions_with_dropout_and_running_statistics(self):
        self.same("Adadelta(p, 1.0)", PICTURES)

    def test_recurrent(self):
        self.same("SGD(p, 0.5)", "recurrent = True", WORDS)

    def test_attention(self):
        self.same("AdamW(p, 0.01)", "recurrent = False", WORDS)

    def test_views_share_what_is_written(self):
        self.path.write_text(HEAD + """
for device in ("cpu", "xla"):
    x = torch.arange(24.0).to(device).view(4, 6)
    y = x.t()[1:4]
    y.mul_(2)[0].add_(x[:, 5])
    x[1, ::2] = -1
    x[x > 30] = 0
    z = x.clone().unsqueeze(0).expand(2, 4, 6)
    print("sum", x.flatten().tolist(), y.tolist(), z.sum((0, 2)).tolist(), bool((x > 5).any()))
""")
        done = run(self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        cpu, xla = re.findall("sum.*", done.stdout)
        self.assertEqual(cpu, xla)

    def test_losses_of_two_batches_and_of_divided_logits_in_one_graph(self):
        self.path.write_text(HEAD + """
for device in ("cpu", "xla"):
    torch.manual_seed(0)
    last, whole = nn.Linear(8, 3).to(device), torch.tensor(0.0).to(device)
    batches = [(torch.randn(4, 8).to(device), torch.tensor(y).to(device)) for y in ([1, 2, 1, 1], [1, 1, 1, 1])]
    for x, y in batches:
        loss = F.cross_entropy(last(x) / 0.07, y) / 2
        loss.backward()
        whole += loss.detach()
    print("loss", whole.item(), *["loss %r" % x for x in last.weight.grad.cpu().flatten().tolist()])
""")
        done = run(self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        cpu, xla = (losses(line) for line in done.stdout.splitlines())
        self.assertEqual(len(cpu), 25)
        for a, b in zip(cpu, xla):
            self.assertLess(abs(a - b), 1e-4 * max(abs(x) for x in cpu[1:]))

    def test_types_that_are_not_there_name_the_line(self):
        self.path.write_text(HEAD + 'x = torch.ones(4, 4).to("xla")\n\nprint(torch.fft.fft(x))\n')
        done = run(self.path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"script.py:4: aten._fft_r2c.default: torch.complex64 is not on the device")

    def refused(self, *lines):
        self.path.write_text("\n".join(lines) + "\n")
        done = run(self.path)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_what_is_not_there_is_one_error(self):
        told = self.refused("try:", "    import neuronx_distributed", "except ImportError:", "    pass",
                            "from torch_xla.experimental.pallas import Mesh")
        self.assertRegex(told, r"^error: \S*script.py:5: the module torch_xla\.\S*pallas is not supported\n  fix: ")
        told = self.refused("import torch", "e = torch.nn.Embedding(5, 2, sparse=True).to('xla')",
                            "e(torch.tensor([1]).to('xla')).sum().backward()")
        self.assertRegex(told, r"^error: \S*script.py:3: \S+: tensors of the layout torch.sparse_coo cannot be on the")
        told = self.refused("import torch", "torch.view_as_complex(torch.ones(3, 2, device='xla'))")
        self.assertRegex(told, r"^error: \S*script.py:2: aten.view_as_complex.default: torch.complex64 is not on")
        self.assertRegex(self.refused("x = 1", "if x", "    pass"), r"^  File \S*script.py\", line 2\n[^@]*SyntaxError")

    def test_names_of_types_are_the_devices(self):
        self.path.write_text("import torch\nx = torch.ones(2, device='xla')\n"
                             "print(x.type(), x.long().type(), x.type(torch.IntTensor))\n"
                             "print(x.type('torch.xla.IntTensor'))\n")
        self.assertEqual(run(self.path).stdout, "torch.xla.FloatTensor torch.xla.LongTensor "
                         "tensor([1, 1], dtype=torch.int32)\ntensor([1, 1], device='xla:0', dtype=torch.int32)\n")

    def test_neuron_is_a_device_of_pytorchs_class(self):
        self.path.write_text("""
import copy, io, pickle, torch
device = torch.device("neuron")
assert isinstance(device, torch.device) and type(device) == torch.device and not isinstance("neuron", torch.device)
assert torch.device("neuron:0") == torch.device("neuron", 0) == torch.ones(1, device=device).device
assert pickle.loads(pickle.dumps(device)) == copy.deepcopy(device) == torch.device(device)
assert torch.device(type="neuron", index=0) == torch.device("neuron:0")
assert torch.device("cpu").type == "cpu"
file = io.BytesIO()
torch.save({"device": device, "x": torch.ones(2)}, file)
file.seek(0)
found = torch.load(file, map_location=device)
assert found["device"] == device and found["x"].device.type == device.type
@torch.jit.script
def zeros(device: torch.device):
    return torch.zeros(2, device=device)
assert zeros(torch.device("cpu")).sum() == 0
with torch.autocast(device.type, dtype=torch.bfloat16):
    assert torch.nn.Linear(2, 3).to(device)(found["x"]).dtype is torch.bfloat16
try:
    torch.device("neutron")
except RuntimeError:
    print("right")
""")
        self.assertEqual(run(self.path).stdout, "right\n")

    def test_two_cores_average_their_gradients(self):
        example = SOURCE / "examples" / "torch" / "train.py"
        two = run(example, "--steps", "3", settings=("--cores", "2"))
        self.assertEqual(two.returncode, 0, two.stderr)
        self.assertEqual(len(losses(two.stdout)), 3)
        self.path.write_text(HEAD + f"source = open({str(example)!r}).read()\n"
                             "names = {'__name__': 'x'}\nexec(source, names)\ntorch.manual_seed(0)\n"
                             "m = nn.Sequential(nn.Linear(40, 64), nn.GELU(), nn.Linear(64, 10))\n"
                             "o = torch.optim.AdamW(m.parameters(), lr=1e-2)\nfor step in range(3):\n"
                             "    o.zero_grad()\n"
                             "    batches = [names['batch'](step, rank, 16) for rank in (0, 1)]\n"
                             "    both = [F.cross_entropy(m(x), y) for x, y in batches]\n"
                             "    (sum(both) / 2).backward(); o.step(); print('loss', both[0].item())\n")
        one = run(self.path)
        self.assertEqual(one.returncode, 0, one.stderr)
        for a, b in zip(losses(two.stdout), losses(one.stdout)):
            self.assertLess(abs(a - b), 1e-5 * abs(b))

    def test_a_core_that_dies_ends_all(self):
        self.path.write_text("import os, torch_xla.distributed.xla_multiprocessing as xmp\n"
                             "def f(rank):\n    if rank: os._exit(9)\n    import time; time.sleep(60)\nxmp.spawn(f)\n")
        done = run(self.path, settings=("--cores", "2"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("core 1 of 2: its process died with exit code 9", done.stderr)


if __name__ == "__main__":
    unittest.main()
