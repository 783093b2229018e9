"""PyTorch's database of operators, a part of it for each run of the test: none computes another number. All of it:
`python3 -m trnsim.torch --numeric tests/python/torch_ops.py`, gradients with --gradients."""
import pathlib
import sys
import tempfile
import unittest

import forked

HERE = pathlib.Path(__file__).resolve().parent
LEFT = HERE / "torch_ops_left.txt"
WRITES = """
import torch
def f(device):
    torch.manual_seed(0)
    a, b, c = torch.randn(4, 6), torch.randn(3, 2), torch.randn(6)
    a, b, c = (t.to(device).requires_grad_() for t in (a, b, c))
    x = a * 2
    x[1:, 2:4] = b * 3
    x[0] += c
    x.t()[5, 1:3].mul_(a[0, :2])
    x[:, ::2] = x[:, ::2] * 2
    z = torch.zeros(3, 4).to(device)
    z[:, 1] = b[:, 0]
    z.t()[2] = b[:, 1] * c[:3]
    strided = torch.as_strided(a * 1.5, (2, 3), (2, 1), 4)
    loss = (x * x).sum() + z.sin().sum() + strided.pow(2).sum()
    loss.backward()
    turned = a.detach().clone()
    turned.transpose_(0, 1)
    return [loss, a.grad, b.grad, c.grad, turned.contiguous(), turned[1:].as_strided((2, 2), (1, 6), 7).clone()]
print("largest", max(((p.detach() - q.detach().cpu()).abs().max() / p.detach().abs().max()).item()
                     for p, q in zip(f("cpu"), f("xla"))))
"""


def run(*arguments):
    command = [sys.executable, "-B", "-m", "trnsim.torch", "--numeric", *arguments]
    return forked.run(command)


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Operators(unittest.TestCase):
    def part(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.txt"
            done = run(str(HERE / "torch_ops.py"), "--list", str(path), *arguments)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            lines = path.read_text().splitlines()
        mode = "gradients" if "--gradients" in arguments else "values"
        known = {tuple(line.split()[1:3]) for line in LEFT.read_text().splitlines() if line.startswith(mode)}
        found = {tuple(line.split()[:2]) for line in lines}
        left = {(verdict, name) for verdict, name in found if verdict != "right"}
        self.assertEqual(left - known, set(), "torch_ops_left.txt does not have them")
        agree = {name for verdict, name in found if verdict == "right"}
        self.assertEqual({name for verdict, name in known if verdict == "refused"} & agree, set(), "they are right now")
        return sum(line.startswith("right") for line in lines), len(lines)

    def test_a_tenth_agrees_with_the_cpu(self):
        right, every = self.part("--part", "3/10")
        self.assertGreaterEqual(right / every, 0.5)

    def test_gradients_of_a_tenth_agree_with_the_cpu(self):
        right, every = self.part("--part", "0/10", "--gradients")
        self.assertGreaterEqual(right / every, 0.5)

    def test_gradients_pass_through_what_is_written_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(WRITES)
            done = run(str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout.split()[1]), 1e-6)


if __name__ == "__main__":
    unittest.main()
