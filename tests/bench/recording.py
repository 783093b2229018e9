"""What it costs to record a training step, beside PyTorch's own dispatch of the same operators on the CPU (tensors of few
elements): processor time of a step, the median of alternating rounds. No program is run.
PYTHONPATH=build/python python3 tests/bench/recording.py [bert|mlp|conv|loop]"""
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
ROUNDS, STEPS = 15, 6


class Bert(nn.Module):
    def __init__(self, layers=6, size=8):
        super().__init__()
        self.words = nn.Embedding(10, size)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(size, 2, size, 0.0, activation="gelu", batch_first=True)
                                    for _ in range(layers))
        self.last = nn.Linear(size, 2)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.last(x[:, 0])


def mlp():
    return nn.Sequential(*[m for _ in range(20) for m in (nn.Linear(4, 4), nn.ReLU())], nn.Linear(4, 2))


def conv():
    return nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), *[m for _ in range(8) for m in (
        nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU())], nn.Flatten(), nn.Linear(32, 2))


class Loop(nn.Module):
    """A recurrence by hand: many small operators of few kinds."""

    def __init__(self, size=4):
        super().__init__()
        self.gates, self.last = nn.Linear(2 * size, 4 * size), nn.Linear(size, 2)

    def forward(self, x):
        h = c = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat([x[:, t], h], 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.last(h)


KINDS = {"bert": (Bert, lambda: torch.randint(0, 10, (2, 4))), "mlp": (mlp, lambda: torch.randn(2, 4)),
         "conv": (conv, lambda: torch.randn(2, 1, 4, 4)), "loop": (Loop, lambda: torch.randn(2, 24, 4))}


def trainer(kind, device):
    torch.manual_seed(0)
    make, draw = KINDS[kind]
    model, x, labels = make().to(device), draw().to(device), torch.randint(0, 2, (2,)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        optimizer.step()
    return step


def seconds(step):
    begin = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - begin) / STEPS


def ours(kind):
    """The step on the simulated device, whose programs are made and not run."""
    from trnsim.torch import _backend, _install
    backend, compiled = _backend.Timed(tempfile.mkdtemp(), "trn1.2xlarge"), {}
    _install.install(backend, False, False)
    backend.compile = lambda graph, name: compiled.setdefault(name, [backend.upload(torch.empty(
        node.call.outs[index].shape, dtype=node.call.outs[index].dtype)) for node, index in (
            (graph.nodes[place], index) for place, index in graph.outs)])
    backend.run = lambda program, leaves: program
    return trainer(kind, "xla")


def answer(kind, side):
    """A round for each line on stdin."""
    step = ours(kind) if side == "ours" else trainer(kind, "cpu")
    seconds(step)
    for _ in sys.stdin:
        print(seconds(step), flush=True)


def alternated(kind):
    """Both sides take turns, each in a process of its own: PyTorch's own path has no mode of ours in its way."""
    sides = [subprocess.Popen([sys.executable, __file__, kind, side], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) for side in ("ours", "plain")]
    rounds = []
    for _ in range(ROUNDS):
        taken = []
        for side in sides:
            print(file=side.stdin, flush=True)
            taken.append(float(side.stdout.readline()))
        rounds.append((taken[0] / taken[1], *taken))
    for side in sides:
        side.communicate()
    ratio, recorded, plain = sorted(rounds)[ROUNDS // 2]
    print(f"{kind}: recorded {1e3 * recorded:.2f} ms a step, PyTorch {1e3 * plain:.2f}: {ratio:.2f} times "
          f"({min(rounds)[0]:.2f} to {max(rounds)[0]:.2f})", flush=True)


if len(sys.argv) > 2:
    answer(*sys.argv[1:])
else:
    for name in sys.argv[1:] or KINDS:
        alternated(name)
