"""Numbers at the edges of functions: signs of zero, infinities, quotients of many digits, as PyTorch's CPU has them."""
import unittest

import device_scripts

try:
    import torch
except ImportError:
    torch = None

SAME = """
inf, nan = float("inf"), float("nan")
def same(call, *tensors):
    want, got = call(*tensors), call(*(t.to(d) for t in tensors)).cpu()
    signs = torch.signbit(want) == torch.signbit(got)
    close = torch.isclose(want, got, rtol=1e-6, atol=1e-6, equal_nan=True) & (signs | want.isnan())
    assert want.dtype is got.dtype and want.shape == got.shape and close.all(), (call, tensors, want, got)
each = torch.tensor([0.0, -0.0, 1.0, -2.5, 7.0, inf, -inf, nan])
a, b = each.repeat(8), each.repeat_interleave(8)
"""
ANGLES = SAME + """
same(torch.atan2, a, b)
same(torch.acos, torch.tensor([1.0, 0.9999, 0.5, 0.0, -0.0, -0.5, -0.9999, -1.0]))
same(torch.digamma, torch.tensor([0.0, -0.0, -1.0, -2.0, 0.5, -0.5]))
"""
WHOLE = SAME + """
x = torch.cat([each, torch.tensor([0.3, -0.3, -1e-20, 8388607.5, -8388607.5, 8388608.0, 3e9, -1e30])])
for call in (torch.floor, torch.ceil, torch.trunc):
    same(call, x), same(call, x.bfloat16()), same(call, x.reshape(4, 4).t())
"""
RESTS = SAME + """
torch.manual_seed(0)
for call in (torch.fmod, torch.remainder):
    same(call, a, b)
    for size, divisor in ((1e6, 3.0), (1e7, 100.0), (100.0, 1e6), (5.0, 5.0), (1.0, 1e-6)):
        x, y = (torch.rand(600) - 0.5) * size, (torch.rand(600) - 0.5) * divisor
        few = (x / y).abs() < 2**25
        assert torch.equal(call(x.to(d), y.to(d)).cpu()[few], call(x, y)[few]), (call, size, divisor)
        x, y = x.bfloat16(), y.bfloat16()
        assert torch.equal(call(x.to(d), y.to(d)).cpu()[few], call(x, y)[few]), (call, size, divisor)
same(lambda t: t % 0.1, torch.linspace(-1e4, 1e4, 501)), same(lambda t: t % 6.2831855, torch.linspace(-1e6, 1e6, 501))
"""
PUT = SAME + """
x, i, j = torch.randn(4, 6), torch.tensor([0, 2]), torch.tensor([[1], [3]])
def put(places, value):
    def call(t):
        t = t.clone()
        t[places(t.device)] = value
        return t
    return call
for value in (-inf, inf, 2.0):
    for places in (lambda at: (slice(None), i.to(at)), lambda at: i.to(at), lambda at: (i.to(at), i.to(at)),
                   lambda at: (j.to(at), i.to(at)), lambda at: (..., [1, -1]), lambda at: (-1, [0, 0])):
        same(put(places, value), x)
same(lambda t: t.index_copy(0, i.to(t.device), t[1:3]), torch.full((4, 3), -inf))
rows = torch.tensor([[-inf, 1.0, 2.0], [3.0, inf, 4.0]])
for call in ("index_copy", "index_add"):
    same(lambda t, r: getattr(t, call)(0, i.to(t.device), r), x[:, :3], rows)
same(lambda t, r: t.scatter(1, torch.tensor([[0, 2, 1], [1, 5, 2]]).to(t.device), r), x, rows)
same(lambda t, r: t.scatter_add(1, torch.tensor([[0, 2, 1], [1, 5, 2]]).to(t.device), r), x, rows)
picked = torch.zeros(4, 6).to(d)
picked[:, [1, 3]] = -inf  # the next operators of the same program see no NaN
assert (picked.argmax(1) + 0).tolist() == [0] * 4 and picked.softmax(1)[0].tolist() == [0.25, 0, 0.25, 0, 0.25, 0.25]
"""
WINDOWS = SAME + """
import torch.nn.functional as F
x = torch.tensor([[-inf, -inf, 1.0, -inf], [inf, 2.0, -inf, -inf], [-inf] * 4])
for call in (lambda t: t.cummax(1)[0], lambda t: t.cummin(1)[0], lambda t: t.cummax(0)[0],
             lambda t: F.max_pool1d(t, 3, 1, 1), lambda t: F.max_pool2d(t[None], 3, 1, 1)):
    same(call, x)
"""
QUOTIENTS = SAME + """
for x, y in ((a, b), (a.bfloat16(), b.bfloat16()), (torch.tensor([5.0, -0.3, 1e30, 6.0]), torch.tensor(0.1)),
             (torch.linspace(-50, 50, 201), torch.tensor(0.7))):
    same(torch.floor_divide, x, y), same(lambda p, q: torch.div(p, q, rounding_mode="floor"), x, y)
same(lambda t: t // 2, each), same(lambda t: -7.0 // t, each)
"""
NEAREST = SAME + """
x = torch.cat([each, torch.tensor([0.3, -0.3, 0.5, -0.5, 1.5, -2.5, 0.49999997, -0.49999997, 8388609.0, -1e30])])
for call in (torch.round, lambda t: torch.round(t.bfloat16()), lambda t: torch.round(t, decimals=1)):
    same(call, x)
"""
TURNS = SAME + """
x = torch.tensor([1e4, 8191.5, -1e6, 3e7, 123456789.0, 1e10, -1e15, 1e20, 3e38, 16777218.0, inf, -inf, nan, 0.5])
for call in (torch.sin, torch.cos, lambda t: torch.tan(t / 4)):
    same(call, x)
"""
SHARES = SAME + """
import torch.nn.functional as F
x = torch.arange(100.0).reshape(2, 2, 5, 5).cos()
x[0, 0, 2, 2], x[0, 1, 0, 0], x[1, 0, 4, 3] = inf, -inf, nan
for size in ((10, 10), (4, 6), (8, 4)):  # of which no place is between an infinity and one with no share
    for corners in (True, False):
        same(lambda t: F.interpolate(t, size=size, mode="bilinear", align_corners=corners), x)
    same(lambda t: F.adaptive_avg_pool2d(t, size), x), same(lambda t: F.interpolate(t, size=size, mode="nearest"), x)
    y = x[:, 0].clone()
    same(lambda t: F.interpolate(t, size=size[0], mode="linear"), y), same(lambda t: F.adaptive_avg_pool1d(t, 3), y)
"""
PRODUCTS = SAME + """
def kron(p, q):
    out, other = p.new_zeros(8, 9), p.new_empty(0)
    assert torch.kron(p, q, out=out) is out and torch.kron(p, q, out=other) is other and other.shape == (8, 9)
    return out + other
same(kron, torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3))
same(torch.kron, torch.arange(6).reshape(2, 3), torch.arange(4).reshape(2, 2))
"""
ONE = SAME + """
for name in ("var", "std"):
    for dim in (0, -1):
        same(lambda t: getattr(torch, name)(t, dim, unbiased=False), torch.tensor(3.0))
        same(lambda t: getattr(torch, name)(t, dim), torch.tensor(3.0))
refused(lambda: torch.var(torch.tensor(3.0).to(d), 1), IndexError, "out of range")
"""
RECURRENT = SAME + """
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    torch.manual_seed(0)
    model, x = kind(4, 4, 2, bidirectional=True, batch_first=True), torch.randn(2, 5, 4)
    want = model(x)[0].detach()
    model.to(d)
    with torch.autocast("xla", dtype=torch.bfloat16):
        got = model(x.to(d))[0]
    got.float().sum().backward()
    assert got.dtype is torch.bfloat16 and model.weight_hh_l0.grad.dtype is torch.float32
    assert (got.float().cpu() - want).abs().max() < 0.02
"""

SAVED = """
from torch.utils.checkpoint import checkpoint
calls = (lambda x: (x / 8.0 ** 0.5) @ x.T, lambda x: x * 3, lambda x: 2.0 / (x + 3), lambda x: (x + 2) ** 3,
         lambda x: torch.where(x > 0, x * 2, x / 7), lambda x: (x / 3).bfloat16().float() * 2.5)
for call in calls:
    sides = []
    for place in ("cpu", d):
        x = torch.linspace(-1, 1, 9).view(3, 3).to(place).requires_grad_()
        call(checkpoint(call, x, use_reentrant=False)).exp().sum().backward()
        sides.append(x.grad.cpu())
    assert torch.allclose(*sides, rtol=1e-5), sides
kept, w = [], torch.ones(3, 3, device=d, requires_grad=True)  # a hook that moves a number, too
def packed(t):
    kept.append(t.dtype)
    return t.cpu().float()
with torch.autograd.graph.saved_tensors_hooks(packed, lambda t: t.to(d)):
    y = (w / 5.0).exp() / 3
y.sum().backward()
assert torch.allclose(w.grad.cpu(), torch.full((3, 3), 2.718281828 ** 0.2 / 15)), w.grad
assert kept == [torch.float64, torch.float32, torch.int64]
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Edges(device_scripts.Scripts):
    def test_angles_have_signs_of_zero_and_infinite_sides(self):
        self.runs(ANGLES)

    def test_whole_numbers_keep_the_sign_of_zero(self):
        self.runs(WHOLE)

    def test_rests_of_large_quotients_have_all_digits(self):
        self.runs(RESTS)

    def test_infinities_are_put_at_places_and_no_further(self):
        self.runs(PUT)

    def test_whole_quotients_are_those_of_the_rest(self):
        self.runs(QUOTIENTS)

    def test_rounding_keeps_the_sign_of_zero(self):
        self.runs(NEAREST)

    def test_angles_of_many_turns(self):
        self.runs(TURNS)

    def test_infinities_are_mixed_where_they_have_a_share(self):
        self.runs(SHARES)

    def test_products_of_kronecker_are_written_to_out(self):
        self.runs(PRODUCTS)

    def test_a_number_has_dimensions_to_reduce(self):
        self.runs(ONE)

    def test_recurrent_layers_in_autocast(self):
        self.runs(RECURRENT)

    def test_saved_operands_may_be_numbers(self):
        self.runs(SAVED)

    def test_windows_hold_infinities(self):
        self.runs(WINDOWS)


if __name__ == "__main__":
    unittest.main()
