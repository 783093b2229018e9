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

    def test_windows_hold_infinities(self):
        self.runs(WINDOWS)


if __name__ == "__main__":
    unittest.main()
