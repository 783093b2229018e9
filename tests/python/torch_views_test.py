"""Random programs of views, of writes to them and of reads of both, in whole numbers: equal to the CPU's to the bit.
More of them: `python3 -m trnsim.torch --numeric tests/python/torch_views_test.py FIRST LAST`."""
import pathlib
import random
import sys
import tempfile
import unittest

import forked

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None


class Program:
    """The same operations on each device for one seed."""

    def __init__(self, seed, device):
        self.pick, self.device, self.text, self.read = random.Random(seed), device, [], []
        self.draw = torch.Generator(device="cpu").manual_seed(seed)
        self.tensors = [self.numbers([self.pick.choice((1, 2, 3, 4, 5, 6, 9, 33, 130)) if self.pick.random() < 0.2 else
                                      self.pick.randint(2, 6) for _ in range(self.pick.randint(1, 4))])
                        for _ in range(2)]

    def numbers(self, shape):
        return torch.randint(-4, 5, tuple(shape), generator=self.draw).float().to(self.device)

    def part(self, size):
        first = self.pick.randrange(size)
        return slice(first, self.pick.randint(first + 1, size), self.pick.choice((1, 1, 2)))

    def box(self, x):
        return tuple(self.part(size) if self.pick.random() < 0.6 else slice(None) for size in x.shape)

    def step(self):
        x = self.pick.choice(self.tensors)
        kind = self.pick.choice(VIEWS + WRITES + VALUES)
        self.text.append(f"{kind.__name__} {tuple(x.shape)}")
        out = kind(self, x, self.pick.randrange(x.dim())) if x.dim() else None
        if out is not None and 0 < out.numel() <= 20_000 and out.dim() < 6:
            self.tensors.append(out)
        if len(self.tensors) > 7:
            self.tensors.pop(self.pick.randrange(7))

    def run(self):
        for _ in range(self.pick.randint(4, 14)):
            self.step()
        return self.read + [t.detach().cpu() for t in self.tensors]


def permuted(p, x, d):
    return x.permute(p.pick.sample(range(x.dim()), x.dim()))


def selected(p, x, d):
    return x.select(d, p.pick.randrange(x.shape[d]))


def reshaped(p, x, d):
    return x.contiguous().view(-1) if d else x.reshape(-1)


def sliced(p, x, d):
    return x[p.box(x)]


def diagonal(p, x, d):
    return x.diagonal(0, 0, 1) if x.dim() > 1 else None


def scaled(p, x, d):
    x.mul_(-1)


def turned(p, x, d):
    x.add_(x.flip(d)).clamp_(-99, 99)


def box_set(p, x, d):
    place = p.box(x)
    x[place] = p.numbers(x[place].shape)


def order_set(p, x, d):
    order = torch.randperm(x.shape[d], generator=p.draw).to(p.device)
    place = list(p.box(x))
    place[d] = slice(None)
    x[tuple(place)] = x.index_select(d, order)[tuple(place)]


def masked(p, x, d):
    x.masked_fill_(x > 1, 0)


def added(p, x, d):
    places = torch.randint(0, x.shape[d], (p.pick.randint(1, 3),), generator=p.draw)
    x.index_add_(d, places.to(p.device), p.numbers([len(places) if i == d else n for i, n in enumerate(x.shape)]))


def copied(p, x, d):
    other = p.pick.choice([t for t in p.tensors if t.shape == x.shape])
    x.copy_(other.clone() if other is not x else -other)


def was_read(p, x, d):
    p.read.append(x.detach().cpu().clone())


def summed(p, x, d):
    return x.sum(d).clamp(-99, 99)


def rolled(p, x, d):
    return x.roll(1, d)


def joined(p, x, d):
    fits = [t for t in p.tensors if t.dim() == x.dim() and all(i == d or t.shape[i] == x.shape[i]
                                                               for i in range(x.dim()))]
    return torch.cat([x, p.pick.choice(fits)], d)


def padded(p, x, d):
    return F.pad(x, [p.pick.choice((0, 0, 1, 2)) for _ in range(2 * x.dim())])


def chosen(p, x, d):
    return torch.where(x > 0, x, 1 - x)


def cloned(p, x, d):
    return x.clone()


VIEWS = [permuted, selected, reshaped, sliced, diagonal]
WRITES = [scaled, turned, box_set, order_set, masked, added, copied]
VALUES = [was_read, summed, rolled, joined, padded, chosen, cloned]


def differing(first, last):
    """The programs whose numbers are others on the device."""
    for seed in range(first, last):
        here, there = Program(seed, "xla"), Program(seed, "cpu")
        if not all(torch.equal(a, b) for a, b in zip(here.run(), there.run())):
            yield f"{seed}: {', '.join(there.text)}"


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Views(unittest.TestCase):
    def test_random_programs_agree_with_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--numeric", "--output_dir", folder,
                               str(pathlib.Path(__file__).resolve()), "0", "250"])
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr[-2000:])


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1].isdigit():
        for line in differing(int(sys.argv[1]), int(sys.argv[2])):
            print(line)
    else:
        unittest.main()
