"""Losses, norms, softmax and attention of values that are scaled, shifted and divided before and behind: gradients as
on the CPU. Rewrites of graphs find these functions by samples; a number must not be taken for another's constant."""
import itertools
import math
import sys
import unittest

import forked

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None


def functions(d):
    keys, labels, weights = torch.randn(5, 8).to(d), torch.tensor([1, 0, 3, 7, 2]).to(d), (torch.rand(8) + 0.5).to(d)
    return [
        lambda x: F.layer_norm(x, (8,), weights, keys[0]), lambda x: x.softmax(-1), lambda x: F.gelu(x), F.silu,
        lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weights,
        lambda x: ((x @ keys.t()) / math.sqrt(8)).softmax(-1) @ (keys * 2), lambda x: F.cross_entropy(x, labels),
        lambda x: F.cross_entropy(x, labels, reduction="none"), lambda x: F.cross_entropy(x, labels, weight=weights),
        lambda x: F.cross_entropy(x, labels, ignore_index=3, reduction="sum", label_smoothing=0.1),
        lambda x: F.cross_entropy(x, labels) + 0.1 * x.logsumexp(-1).pow(2).mean(),
        lambda x: F.cross_entropy(x, labels) + F.cross_entropy(-x, labels.flip(0))]


def before(d, t):
    rows, weights = (torch.rand(5, 1) + 0.5).to(d), (torch.rand(8) + 0.5).to(d)
    return [lambda x: x, lambda x: x / 0.37, lambda x: x * 3.0, lambda x: 1.7 - x, lambda x: x / t, lambda x: x * t,
            lambda x: x / rows, lambda x: x * weights]


def behind(t):
    return [lambda y: y, lambda y: y / 0.3, lambda y: y / t, lambda y: y * t, lambda y: y * y]


def values(d, which):
    """The result and its gradients of each combination."""
    torch.manual_seed(0)
    t = torch.tensor(1.3).to(d).requires_grad_()
    makers = functions(d), before(d, t), behind(t)
    x = torch.randn(5, 8).to(d).requires_grad_()
    for place in which:
        function, first, last = (maker[i] for maker, i in zip(makers, place))
        y = last(function(first(x)))
        out = (y * torch.linspace(-1, 1.5, y.numel()).reshape(y.shape).to(d)).sum() if y.dim() else y
        grads = torch.autograd.grad(out, [x, t], allow_unused=True)
        yield torch.cat([g.detach().cpu().flatten() for g in (out, *grads) if g is not None])


def compare():
    which = list(itertools.product(range(12), range(8), range(5)))
    for place, here, there in zip(which, values("xla", which), values("cpu", which)):
        if not (here - there).abs().max() < 2e-5 * there.abs().max():  # sums of 40 terms; so written that NaN fails
            print("differs", *place, here.tolist(), there.tolist())
    print("compared", len(which))


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Scaled(unittest.TestCase):
    def test_gradients_are_those_of_the_cpu(self):
        command = [sys.executable, "-B", "-m", "trnsim.torch", "--numeric", __file__, "--compare"]
        done = forked.run(command)
        self.assertEqual((done.returncode, done.stdout), (0, "compared 480\n"), done.stderr[-2000:])


if __name__ == "__main__":
    compare() if "--compare" in sys.argv else unittest.main()
