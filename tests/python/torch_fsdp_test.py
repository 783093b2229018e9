"""XlaFullyShardedDataParallel trains as one process does on all cores' batches, however parameters are divided."""
import pathlib
import re
import sys
import tempfile
import unittest

import forked

MODEL = """
import functools, sys, torch, torch.nn as nn, torch.nn.functional as F
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d, bias=False)
    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x)))) / 2.0
class Net(nn.Module):
    def __init__(self, d=7):
        super().__init__()
        self.table, self.blocks = nn.Embedding(11, d), nn.ModuleList([Block(d) for _ in range(2)])
        self.head = nn.Linear(d, 11, bias=False)
        self.head.weight = self.table.weight
    def forward(self, x):
        h = self.table(x)
        for block in self.blocks:
            h = block(h)
        return self.head(h).flatten(0, 1)
def loss_of(model, step, rank, device):
    x = torch.randint(0, 11, (4, 5), generator=torch.Generator().manual_seed(100 * step + rank)).to(device)
    return F.cross_entropy(model(x), x.roll(1, 1).flatten())
torch.manual_seed(0)
model = Net()
"""
ALONE = MODEL + """
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
for step in range(3):
    optimizer.zero_grad()
    losses = [loss_of(model, step, rank, "cpu") for rank in range(2)]
    (sum(losses) / 2).backward()
    print(losses[0].item(), nn.utils.clip_grad_norm_(model.parameters(), 0.5).item())
    optimizer.step()
print(*[p.abs().sum().item() for p in model.state_dict().values()])
"""
SHARDED = MODEL + """
import torch_xla.core.xla_model as xm, torch_xla.distributed.xla_multiprocessing as xmp
from torch_xla.distributed.fsdp import (XlaFullyShardedDataParallel as FSDP, checkpoint_module,
                                        consolidate_sharded_model_checkpoints)
from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
def train(rank, model):
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
    model = FSDP(model, HOW)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for step in range(3):
        optimizer.zero_grad()
        loss = loss_of(model, step, rank, xm.xla_device())
        loss.backward()
        norm = model.clip_grad_norm_(0.5)
        optimizer.step()
        xm.mark_step()
        xm.master_print(loss.item(), norm.item())
    xm.save({"model": model.state_dict(), "shard_metadata": model.get_shard_metadata()},
            f"model_rank-{rank:08d}-of-00000002.pth", master_only=False)
    if rank == 0:
        whole = Net()
        whole.load_state_dict(consolidate_sharded_model_checkpoints("model")[0])
        print(*[p.abs().sum().item() for p in whole.state_dict().values()])
xmp.spawn(train, (model,))
"""
WAYS = ("auto_wrap_policy=policy", "flatten_parameters=True, reshard_after_forward=False",
        "shard_param_on_dim_0=True, auto_wrap_policy=policy, reshard_after_forward=False, "
        "auto_wrapper_callable=lambda m, **k: FSDP(checkpoint_module(m), **k)")


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Sharded(unittest.TestCase):
    def numbers(self, text, *command):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(text)
            done = forked.run([sys.executable, "-B", *command, str(path)], cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            return [float(x) for x in re.findall(r"\d+\.\d+", done.stdout)]

    def test_losses_norms_and_weights_are_those_of_one_process(self):
        expected = self.numbers(ALONE)
        self.assertEqual(len(expected), 18)
        for way in WAYS:
            with self.subTest(way):
                got = self.numbers(SHARDED.replace("HOW", way), "-m", "trnsim.torch", "--numeric", "--cores", "2")
                self.assertEqual(len(got), len(expected))
                for x, y in zip(got, expected):
                    self.assertLess(abs(x - y), 1e-4 * y + 1e-6)


if __name__ == "__main__":
    unittest.main()
