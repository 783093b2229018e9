"""Writes of PyTorch scripts whose operator says little of them: to lists of tensors, to results of other shapes, to the
tensor itself; indices that are sequences; files that are loaded to the device."""
import pathlib
import sys
import tempfile
import unittest

import forked

HEAD = "import sys, torch, torch.nn as nn\ndev = sys.argv[1]\ntorch.manual_seed(0)\n"
LISTS = HEAD + """
def pair():
    return [torch.arange(1.0, 5.0).view(2, 2).to(dev), torch.arange(1.0, 4.0).to(dev)]
def told(name, tensors):
    print(name, [round(t.item(), 5) for x in tensors for t in x.flatten()])
for name, args in (("add", (2,)), ("mul", ([2.0, 3.0],)), ("div", ([2.0, 4.0],)), ("sqrt", ()), ("neg", ())):
    told(name, getattr(torch, "_foreach_" + name)(pair(), *args))
    written = pair()
    getattr(torch, f"_foreach_{name}_")(written, *args)
    told(name + "_", written)
a, b, c, d, e = pair(), pair(), pair(), pair(), pair()
torch._foreach_add_(a, pair(), alpha=0.5); torch._foreach_addcdiv_(b, pair(), [2 * t for t in pair()], [1.0, 3.0])
torch._foreach_addcmul_(c, pair(), pair(), 0.5); torch._foreach_zero_(d); torch._foreach_sub_(e, [t / 3 for t in e])
told("more", a + b + c + d + e); told("norm", torch._foreach_norm(pair()))
a, b = pair(), pair()
torch._foreach_maximum_(a, [5 - t for t in pair()]); torch._foreach_minimum_(b, [5 - t for t in pair()])
told("limits", a + b)
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adamax, torch.optim.RMSprop):
    torch.manual_seed(1)
    m = nn.Linear(5, 3).to(dev)
    o = kind(m.parameters(), 0.1, foreach=True)
    for step in range(3):
        o.zero_grad(); m(torch.randn(4, 5).to(dev)).square().mean().backward(); o.step()
    print(kind.__name__, [round(x, 4) for x in m.weight.detach().cpu().flatten().tolist()])
"""
OWN = HEAD + """
x = torch.ones(2, 3).to(dev)
y = torch.empty(0).to(dev); y.resize_as_(x).fill_(2.0); print(y.tolist())
z = torch.arange(6.0).to(dev); z.resize_(2, 2).add_(1); print(z.tolist(), z.shape)
w = torch.arange(4.0).to(dev); w.resize_(2, 3)[1] = 0; print(w.tolist())
b = torch.empty(4, 2).to(dev)  # a buffer that takes each batch, whose last one is smaller
for n in (4, 4, 2, 4): b.resize_as_(torch.ones(n, 2).to(dev)).copy_(torch.full((n, 2), n * 1.0)); print(b.tolist())
p = torch.arange(6.0).to(dev); part = p[1:]; p.resize_(3, 2); p.resize_(6); part += 1; p.resize_(4); print(p.tolist())
out = torch.empty(0).to(dev); torch.mul(x, 3, out=out); print(out.tolist(), out.shape)
m = nn.Linear(4, 3).to(dev); m.weight.data = m.weight.data[:2]; m.bias.data = torch.ones(2, device=dev)
m(torch.ones(5, 4).to(dev)).sum().backward(); print(m.weight.shape, m.weight.grad.tolist())
s = torch.arange(24.0).view(2, 3, 4).to(dev).permute(2, 0, 1)
print(s.clone().stride(), s[1:, :, 1:].diagonal().tolist())
print(s.clone().contiguous().view(-1)[:5].tolist(), s.half().float().stride())
print(s.half().to(torch.float32, memory_format=torch.contiguous_format).stride())
k = x.new_tensor([[1, 2], [3, 4]]); print((k * x[0, 0]).tolist(), k.dtype, x.new_tensor(5, dtype=torch.int64).item())
v = torch.zeros(6).to(dev); tail = v[2:]; v.data = torch.ones(3).to(dev); tail += 1; print(v.tolist(), tail.tolist())
n = nn.utils.weight_norm(nn.Linear(4, 3)).to(dev); k = nn.utils.weight_norm(nn.Conv1d(2, 3, 3), dim=1).to(dev)
(n(torch.ones(5, 4).to(dev)).square().sum() + k(torch.rand(1, 2, 6).to(dev)).square().sum()).backward()
print([round(g, 3) for t in (n.weight_g, n.weight_v, k.weight_g, k.weight_v) for g in t.grad.flatten().tolist()])
q = torch.arange(6.0).view(2, 3).to(dev).requires_grad_(); q.repeat_interleave(2, dim=-1)[:, 1:].sum().backward()
print(q.grad.tolist(), torch.repeat_interleave(x[:, :2], 2).tolist(), q.repeat_interleave(repeats=3, dim=0).shape)
"""
INDICES = HEAD + """
a = torch.arange(120.0).view(4, 5, 6).to(dev)
for index in ([[0, 1], range(2)], ([[0, 1], [2, 3]], slice(None)), (slice(None), [True, False, True, False, True]),
              ([0, 1],), [1], (None, ..., [0, 1]), True, [torch.tensor(1), 2], (range(3), range(1, 4)),
              (slice(1), (0, 2)), [slice(2), 1]):
    print(a[index].shape, a[index].sum().item())
a[range(2), torch.tensor([1, 2]).to(dev)] = -1.0; a[:, (0, 4)] *= 2; print(a.sum().item())
"""
NARROW = HEAD + """
kind = torch.int64 if dev == "cpu" else torch.int32  # which PyTorch 2 takes too
a, i, k = torch.arange(6.0).view(2, 3).to(dev), torch.tensor([1, 0], dtype=kind).to(dev), torch.tensor([0, -1]).to(dev)
host = torch.zeros(4); host[torch.tensor([3, 1], dtype=kind)] = 2.0
print(host.tolist(), host[torch.tensor([1, 0], dtype=kind)].tolist())
a.requires_grad_(); b = a[i, k]; (b * torch.arange(1.0, 3).to(dev)).sum().backward()
print(b.tolist(), a.grad.tolist(), a[:, i].tolist(), a[i][:, :2].tolist(), a[i[0]].tolist(), a[None, i].shape)
z = torch.zeros(2, 3).to(dev); z[i] = a.detach(); z[i, k] += 5; z[:, -i] *= 2; print(z.tolist())
z.index_put_((i, i), torch.ones(2).to(dev), accumulate=True); print(z.tolist())
"""
OUT = HEAD + """
print(nn.init.eye_(torch.empty(3, 4).to(dev)).tolist(), torch.eye(2, out=torch.empty(2, 2).to(dev)).tolist())
m = nn.Linear(6, 3).to(dev)
first, second = ([torch.zeros_like(p) for p in m.parameters()] for _ in range(2))
for step in range(3):  # LAMB: the rate of a step is made of the step itself
    m.zero_grad()
    loss = m(torch.ones(2, 6).to(dev)).square().mean(); loss.backward()
    with torch.no_grad():
        for p, a, b in zip(m.parameters(), first, second):
            a.lerp_(p.grad, 0.1); b.mul_(0.9).addcmul_(p.grad, p.grad, value=0.1)
            update = a / (b.sqrt() + 1e-6) + 0.01 * p
            p.add_(update * torch.where(p.norm() > 0, p.norm() / update.norm(), torch.ones_like(p.norm())), alpha=-0.01)
    print(round(loss.item(), 5), [round(x, 5) for x in m.weight.detach().cpu().flatten().tolist()])
"""
DRAWN = HEAD + """
x = torch.linspace(-1, 1, 12).view(3, 4).to(dev)
calls = ((torch.bernoulli, (x.sigmoid(),), (3, 4)), (torch.normal, (x, x.abs()), (3, 4)),
         (torch.randn, (3, 4), (3, 4)), (torch.normal, (0.0, x.abs()), (3, 4)),
         (torch.masked_select, (x, x > 0), (6,)), (torch.histc, (x, 5), (5,)),
         (torch.rand, (3, 4), (3, 4)), (torch.linspace, (0, 1, 5), (5,)), (torch.ones, (2, 3), (2, 3)),
         (torch.zeros, ((2, 2),), (2, 2)), (torch.full, ((2, 2), 2.5), (2, 2)), (torch.arange, (1, 9, 2), (4,)))
places = ((torch.nonzero, (x > 0,), (6, 2)), (torch.multinomial, (x.sigmoid(), 2), (3, 2)),
          (torch.randperm, (5,), (5,)), (torch.randint, (0, 5, (3, 4)), (3, 4)), (torch.argmax, (x, 1), (3,)))
for group, dtype in ((calls, torch.float32), (places, torch.int64)):
    for call, args, size in group:
        whole = torch.zeros((size[0] + 1, *size[1:]), dtype=dtype).to(dev)
        for out in (torch.zeros(size, dtype=dtype).to(dev), torch.empty(0, dtype=dtype).to(dev), whole[1:]):
            torch.manual_seed(3)
            same = call(*args, out=out) is out
            print(call.__name__, same, [round(n, 4) for n in out.flatten().tolist()], round(whole.sum().item(), 4))
for call in (torch.Tensor.normal_, torch.Tensor.uniform_, lambda t: t.resize_(3, 4).fill_(2)):
    whole = torch.zeros(4, 3).to(dev); call(whole.t()); print([round(n, 4) for n in whole.flatten().tolist()])
for dtype in (torch.uint8, torch.int8, torch.int16):  # sums keep their lowest bits
    a, i = torch.full((3, 2), 100, dtype=dtype).to(dev), torch.tensor([0, 2, 0]).to(dev)
    print(a.index_add(0, i, a).tolist(), a.index_add(0, i, a, alpha=-2).tolist())
    print((a * 300).scatter_add(0, i[None, :2], a).tolist())
t = torch.tensor([True, False]).to(dev); print(torch.add(t, ~t, alpha=False).tolist(), torch.add(t, ~t).tolist())
"""
WHOLE = HEAD + """
x = torch.tensor([-1, -300, 5, 300, 70000, -70000, 127, 128, 255, 256])
kinds = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
for kind in kinds:
    for other in kinds:
        print(kind, other, x.to(kind).to(dev).to(other).tolist())
"""
SAVED = HEAD + """
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "a.pt")
m = nn.Linear(3, 2)
torch.save({"m": m.state_dict(), "more": [torch.ones(2), (3, torch.zeros(1))], "p": m.weight}, path)
got = torch.load(path, map_location=torch.device(dev))
print(got["m"]["weight"].device.type == torch.device(dev).type, type(got["m"]).__name__, got["more"][1][0],
      got["more"][0].device.type == got["p"].device.type, isinstance(got["p"], nn.Parameter), got["p"].requires_grad)
m.to(dev).load_state_dict(got["m"]); print([round(x, 6) for x in m(got["more"][0].new_ones(1, 3)).tolist()[0]])
torch.save(m.state_dict(), path); print(sorted(torch.load(path, map_location=dev)))
"""


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Writes(unittest.TestCase):
    def both(self, script):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(script)
            runs = [forked.run([sys.executable, "-B", *how, str(path), device])
                    for how, device in (([], "cpu"), (["-m", "trnsim.torch", "--numeric"], "xla"))]
        for run in runs:
            self.assertEqual(run.returncode, 0, run.stderr[-3000:])
        self.assertEqual(runs[1].stdout.splitlines(), runs[0].stdout.splitlines())
        return runs[1].stderr

    def test_operators_on_lists_of_tensors(self):
        self.assertNotIn("left to the host", self.both(LISTS))

    def test_tensors_that_take_other_shapes(self):
        self.assertNotIn("left to the host", self.both(OWN))

    def test_sequences_as_indices(self):
        self.both(INDICES)

    def test_places_of_32_bits(self):
        self.both(NARROW)

    def test_results_in_given_tensors_and_rates_made_of_their_step(self):
        self.both(OUT)

    def test_results_of_the_host_in_given_tensors(self):
        self.both(DRAWN)

    def test_whole_numbers_keep_their_lowest_bits(self):
        self.both(WHOLE)

    def test_files_loaded_to_the_device(self):
        self.both(SAVED)


if __name__ == "__main__":
    unittest.main()
