"""Values put at places, of which the last of equal ones counts: their numbers, and the time of many."""
import json
import pathlib
import sys
import tempfile
import unittest

import device_scripts
import forked

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

PLACED = """
g = torch.Generator().manual_seed(0)
for shape, places, dim in (((6, 4), (6, 9), 1), ((5, 3, 4), (3, 3, 2), 0), ((8,), (20,), 0),
                           ((1500, 4), (1500, 2), -1)):
    x, v = torch.randn(shape, generator=g), torch.randn(places, generator=g)
    i = torch.randint(0, shape[dim], places, generator=g)  # the last of equal places counts
    v[0] = float("inf")
    for kind in (torch.float32, torch.bfloat16, torch.int32, torch.bool):
        a, b = (t.to(kind) if kind.is_floating_point else t.nan_to_num(posinf=9).to(kind) for t in (x, v))
        assert torch.equal(a.to(d).scatter(dim, i.to(d), b.to(d)).cpu(), a.scatter(dim, i, b)), (shape, kind)
        assert torch.equal(a.to(d).scatter_(dim, i.to(d), b.to(d)).cpu(), a.clone().scatter_(dim, i, b))
x, rows, columns = torch.zeros(7, 6), torch.tensor([[1], [-6], [3]]), torch.tensor([2, 2, -4, 5])
v, there = torch.randn(3, 4, generator=g), x.to(d)
x[rows, columns], there[rows.to(d), columns.to(d)] = v, v.to(d)
assert torch.equal(there.cpu(), x)
"""
ORDERED = """
inf, nan = float("inf"), float("nan")
rows = torch.tensor([[-inf, 3, -inf, -inf], [nan, 1, 2, nan], [nan, nan, nan, inf], [-inf] * 4, [inf, inf, nan, 0]])
for x in (rows, rows.bfloat16(), torch.tensor([[0, 5, 0, 0], [255, 255, 255, 255]], dtype=torch.uint8),
          torch.tensor([[-2**31, 7, -2**31, 0], [2**31 - 1] * 4], dtype=torch.int32)):
    for k in (1, 2, 4):
        for largest in (True, False):
            want, (got, places) = x.topk(k, -1, largest)[0], x.to(d).topk(k, -1, largest)
            assert str(got.tolist()) == str(want.tolist()) == str(x.gather(1, places.cpu()).tolist()), (x, got, want)
            assert all(len(set(row)) == k for row in places.tolist()), places  # none is taken twice
    for call in (lambda t: t.argmax(1), lambda t: t.argmin(1), lambda t: t.max(1)[1], lambda t: t.cummax(1)[1],
                 lambda t: t.sort(dim=1, stable=True)[1], lambda t: t.argmax()):
        assert torch.equal(call(x.to(d)).cpu(), call(x)), x
"""
GATES = """
import torch_neuronx
class Gates(nn.Module):
    def forward(self, x):
        weights, places = x.topk(2, -1)
        return torch.zeros_like(x).scatter(-1, places, weights)
x = torch.zeros(int(sys.argv[1]), 4)
torch_neuronx.trace(Gates(), x)(x)
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Places(device_scripts.Scripts):
    def test_the_last_of_equal_places_counts(self):
        self.assertNotIn("the reference interpreter:", self.runs(PLACED).stderr)

    def test_the_largest_are_different_elements(self):
        self.runs(ORDERED)

    def test_more_rows_of_gates_take_longer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(device_scripts.HEAD + GATES)
            times = []
            for rows in ("256", "512", "1024"):
                done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--timed", "--output_dir",
                                   f"{folder}/{rows}", str(path), rows], cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
                found = json.loads(pathlib.Path(f"{folder}/{rows}", "torch.json").read_text())
                times.append(found["times"][found["main"]]["device_step_seconds"])
        self.assertEqual(times, sorted(times))
        self.assertLess(times[2], 4 * times[0])  # each of a gate's places is compared with its row's alone


if __name__ == "__main__":
    unittest.main()
