"""SyncBatchNorm on two cores normalizes as BatchNorm does on all their samples; hooks of communication combine
gradients in the place of their mean."""
import pathlib
import re
import sys
import tempfile
import unittest

import forked

SCRIPT = """
import sys, torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 8),
                      nn.BatchNorm1d(8, momentum=None), nn.Linear(8, 3))
rank, device, size = 0, "cpu", 1
if sys.argv[1:] != ["alone"]:
    dist.init_process_group("xla")
    rank, device, size = dist.get_rank(), "xla", dist.get_world_size()
    model = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(model).to(device))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    generator = torch.Generator().manual_seed(step)
    x, y = torch.randn(8, 2, 4, 4, generator=generator) * 3 + 50, torch.randint(0, 3, (8,), generator=generator)
    x, y = x.chunk(size)[rank].to(device), y.chunk(size)[rank].to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    loss = loss.detach().clone()
    if size > 1:
        dist.all_reduce(loss)
    if rank == 0:
        print(loss.item() / size)
model = model.eval() if size == 1 else model.eval().module
if rank == 0:
    print(*[t.double().abs().sum().item() for t in model.state_dict().values()], model(x).abs().sum().item())
"""

HOOKS = """
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
dist.init_process_group("xla")
seen = []
def half(state, bucket):
    state.append((bucket.index(), len(bucket.gradients()), bucket.is_last()))
    work = dist.all_reduce(bucket.buffer() / 4, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])
for state, hook in ((None, None), (None, default_hooks.allreduce_hook), (None, default_hooks.bf16_compress_hook),
                    (seen, half)):
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to("xla"))
    if hook:
        model.register_comm_hook(state, hook)
    model(torch.ones(3, 4, device="xla") * (dist.get_rank() + 1.3)).square().mean().backward()
    if dist.get_rank() == 0:
        print(*[p.grad.abs().sum().item() for p in model.parameters()])
assert seen == [(0, 4, True)], seen
"""

OTHERS = """
import sys, torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
dist.init_process_group("xla")
rank = dist.get_rank()
for call in (lambda t: dist.reduce(t, 1), dist.all_reduce):
    for meet in (dist.barrier, lambda: dist.all_gather_object([None, None], rank)):
        sums = torch.ones(2, device="xla") + rank
        call(sums)
        if rank == 1:
            assert sums.tolist() == [3, 3], sums
        meet()
own = [None]
dist.scatter_object_list(own, ["a", 5] if rank == 1 else None, src=1)
assert own == [["a", 5][rank]], own
def trained(kind, **given):
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2)).to("xla"))
    optimizer = kind(model.parameters(), lr=0.01, **given)
    for step in range(2):
        optimizer.zero_grad()
        model(torch.ones(2, 4, device="xla") * (rank + step)).square().mean().backward()
        optimizer.step()
    return [p.detach().cpu() for p in model.parameters()]
for a, b in zip(trained(torch.optim.Adam), trained(ZeroRedundancyOptimizer, optimizer_class=torch.optim.Adam)):
    assert torch.allclose(a, b, atol=1e-6), (a, b)
"""


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Parallel(unittest.TestCase):
    def numbers(self, *command, after=(), text=SCRIPT):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(text)
            done = forked.run([sys.executable, "-B", *command, str(path), *after], cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            return [float(x) for x in re.findall(r"\d+\.\d+", done.stdout)]

    def test_two_cores_are_one(self):
        expected = self.numbers(after=["alone"])
        got = self.numbers("-m", "trnsim.torch", "--numeric", "--nproc_per_node", "2")
        self.assertEqual((len(got), len(expected)), (20, 20))
        for x, y in zip(got[:-1], expected[:-1]):  # the last is of half the samples
            self.assertLess(abs(x - y), 2e-4 * y + 1e-5)

    def test_hooks_combine_gradients(self):
        got = self.numbers("-m", "trnsim.torch", "--numeric", "--nproc_per_node", "2", text=HOOKS)
        self.assertEqual(len(got), 16)
        mean, same, fewer_bits, half = (got[i:i + 4] for i in range(0, 16, 4))
        for x, y, z, h in zip(mean, same, fewer_bits, half):
            self.assertAlmostEqual(x, y, delta=1e-6 * x)
            self.assertTrue(0 < abs(z - x) < 2 ** -8 * x)  # bf16 rounds by half of 2^-7 at most
            self.assertAlmostEqual(h, x / 2, delta=1e-6 * x)

    def test_one_core_reads_and_pytorchs_own_optimizer_in_parts(self):
        self.numbers("-m", "trnsim.torch", "--numeric", "--nproc_per_node", "2", text=OTHERS)


if __name__ == "__main__":
    unittest.main()
