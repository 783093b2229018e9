"""torch_xla.experimental and GSPMD on one device: the numbers of the CPU, and one error where a wish is none."""
import pathlib
import re
import sys
import tempfile
import unittest

import forked

HEAD = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
"""
BOTH = {
    "scan": """
from torch_xla.experimental.scan import scan
w = torch.tensor([2.0], device=device, requires_grad=True)
xs = {"a": torch.arange(1.0, 5.0).to(device), "b": torch.rand(4, 3).to(device)}
def step(carry, x):
    carry = {"sum": carry["sum"] * w + x["a"]}
    return carry, [x["b"] * carry["sum"]]
last, (ys,) = scan(step, {"sum": torch.zeros(1, device=device)}, xs)
ys.sum().backward()
print(last["sum"].item(), ys.shape, w.grad.item())
""",
    "steps that write to what they are given": """
from torch_xla.experimental.scan import scan
from torch_xla.experimental.gradient_accumulation import gradient_accumulation
def step(carry, x):
    carry += x
    x.zero_()
    return carry, (carry, x)
init, xs = torch.zeros(1, device=device), torch.tensor([1.0, 2.0, 3.0], device=device)
last, (ys, zeros) = scan(step, init, xs)
print("scan", last.tolist(), ys.tolist(), zeros.tolist(), init.tolist(), xs.tolist())
model = nn.Linear(1, 1).to(device)
def train(x, n):
    n += x
    x.mul_(2)
    return model(x[None]).sum(), n
_, n = gradient_accumulation(train, (xs,), model, (init,))
print("sums", n.tolist(), init.tolist(), xs.tolist())
""",
    "scan_layers": """
from torch_xla.experimental.scan_layers import scan_layers
layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)]).to(device)
out = scan_layers(layers, torch.rand(2, 6).to(device))
out.sum().backward()
print(out.sum().item(), layers[0].weight.grad.abs().sum().item())
""",
    "assume_pure": """
from torch_xla.experimental.assume_pure import assume_pure, assume_pure_torch
from torch.func import functional_call
from functools import partial
@assume_pure
def scaled(a, b, c=2):
    return {"out": a @ b * c}
x, layer = torch.rand(3, 3).to(device).requires_grad_(), nn.Linear(3, 3).to(device)
forward = assume_pure(partial(lambda module, weights, x: functional_call(module, weights, (x,)), layer))
for c in (2, 3):
    forward(dict(layer.named_parameters()), scaled(x, x, c=c)["out"]).sum().backward()
print(x.grad.sum().item(), layer.weight.grad.sum().item())
with torch.no_grad():
    for wrap in (assume_pure_torch, assume_pure_torch(use_cache=True), assume_pure_torch(True)):
        print(wrap(lambda x: x.sin().sum())(x).item())
""",
    "gradient_accumulation": """
from torch_xla.experimental.gradient_accumulation import gradient_accumulation
model = nn.Linear(8, 3).to(device)
x, y = torch.randn(4, 2, 8).to(device), torch.randint(0, 3, (4, 2)).to(device)
loss, seen = gradient_accumulation(lambda a, b, n: (F.cross_entropy(model(a), b), n + 1), (x, y), model,
                                   (torch.zeros(1, device=device),))
print(loss.item(), seen.item(), model.weight.grad.abs().sum().item())
""",
    "smoothed labels": """
for weight in (None, torch.rand(5)):
    x, y = torch.randn(6, 5, 3), torch.randint(0, 5, (6, 3))
    y[0, 1] = -100
    x = x.to(device).requires_grad_()
    loss = F.cross_entropy(x, y.to(device), None if weight is None else weight.to(device), label_smoothing=0.1)
    loss.backward()
    print(loss.item(), x.grad.abs().sum().item())
""",
}
SPMD = """
import torch_xla, torch_xla.runtime as xr, torch_xla.distributed.spmd as xs, torch_xla.distributed.parallel_loader as pl
from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel
torch_xla.experimental.eager_mode(False)
xr.use_spmd()
mesh = xs.Mesh(np.arange(xr.global_runtime_device_count()), (1, 1), ("fsdp", "model"))
xs.set_global_mesh(mesh)
model = SpmdFullyShardedDataParallel(nn.Linear(4, 2).to("xla"))
xs.mark_sharding(model.module.weight, mesh, ("model", "fsdp"))
for x, in pl.MpDeviceLoader([(torch.ones(3, 4),)], "xla", input_sharding=xs.ShardingSpec(mesh, ("fsdp", None))):
    print(model(x).sum().item() - F.linear(x, model.weight, model.bias).sum().item(), xr.is_spmd())
"""
WRONG = {  # part of the message: lines behind the imports
    "first axes of [2, 3]": "scan(lambda c, x: (c, c), torch.zeros(1), (torch.ones(2), torch.ones(3)))",
    "the carry begins as": "scan(lambda c, x: (torch.cat([c, c]), c), torch.zeros(1), torch.ones(2))",
    "use it within torch.no_grad()": "from torch_xla.experimental.assume_pure import *\nassume_pure_torch(torch.sin)",
    "layer 1 has other parameters": "scan_layers([nn.Linear(2, 2), nn.Linear(2, 3)], torch.ones(2))",
    "use_spmd()": "xs.mark_sharding(torch.ones(2), xs.Mesh([0], (1,), ('data',)), ('data',))",
    "but there is one": "xr.use_spmd()\nxs.Mesh([0, 1], (2,), ('data',))",
    "name axes of it": "xs.mark_sharding(torch.ones(2, 2), xs.Mesh([0], (1,), ('data',)), ('model', None))",
    "has 1 axes, the tensor has 2": "xs.mark_sharding(torch.ones(2, 2), xs.Mesh([0], (1,), ('data',)), ('data',))",
}
IMPORTS = """
import torch_xla.runtime as xr, torch_xla.distributed.spmd as xs
from torch_xla.experimental.scan import scan
from torch_xla.experimental.scan_layers import scan_layers
"""


def ran(script, *settings):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "script.py"
        path.write_text(HEAD + script)
        return forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--numeric", "--output_dir", folder + "/out",
                           *settings, str(path)])


@unittest.skipUnless(forked.is_there("torch"), "PyTorch is not there")
class Experimental(unittest.TestCase):
    def test_the_numbers_are_those_of_the_cpu(self):
        script = f"for name, case in {BOTH!r}.items():\n  for device in ('xla', 'cpu'):\n    torch.manual_seed(0)\n"
        done = ran(script + "    print('==', name, device)\n    exec(case)\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("left to the host", done.stderr)
        cases = done.stdout.split("==")[1:]
        self.assertEqual(len(cases), 2 * len(BOTH))
        for device, cpu in zip(cases[::2], cases[1::2]):
            got, want = (re.findall(r"-?\d+\.\d+", text) for text in (device, cpu))
            self.assertTrue(got)
            for a, b in zip(got, want, strict=True):
                self.assertAlmostEqual(float(a), float(b), delta=1e-5, msg=device)

    def test_a_step_may_write_to_its_carry_and_its_slices(self):
        done = ran("device = 'xla'" + BOTH["steps that write to what they are given"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "scan [6.0] [[1.0], [3.0], [6.0]] [0.0, 0.0, 0.0] [0.0] [1.0, 2.0, 3.0]",
            "sums [6.0] [0.0] [1.0, 2.0, 3.0]"])

    def test_a_mesh_of_one_device_divides_nothing(self):
        done = ran(SPMD)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["0.0", "True"]), done.stderr)

    def test_wishes_that_are_none_are_one_error(self):
        script = IMPORTS + f"for lines in {list(WRONG.values())!r}:\n  try:\n    exec(lines)\n"
        done = ran(script + "  except (AssertionError, RuntimeError, ValueError) as error:\n    print(error)\n")
        for said, line in zip(WRONG, done.stdout.splitlines(), strict=True):
            self.assertIn(said, line)
        done = ran("import torch_xla.runtime as xr\nxr.use_spmd()", "--cores", "4")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("GSPMD over 4 cores", done.stderr)


if __name__ == "__main__":
    unittest.main()
