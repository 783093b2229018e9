"""The compiled recorder and Python's record the same graphs: steps that Python recorded are no new programs for it."""
import gc
import os
import sys
import tempfile
import threading
import unittest
from unittest import mock

try:
    import torch
except ImportError:
    torch = None


def in_python(record):
    """`record` without the compiled recorder."""
    from trnsim.torch._values import HOOKS
    direct = HOOKS["operators"]().direct
    compiled, direct.__torch_dispatch__ = direct.__torch_dispatch__, direct.in_python
    try:
        return record()
    finally:
        direct.__torch_dispatch__ = compiled


def numbers(x, rate):
    y = x.mul(rate).add(x, alpha=1 - rate) + 0.0 - x * -0.0
    return [y.clamp(min=-0.0), y.double() * rate, y.addcdiv(x, x, value=rate), torch.nan_to_num(y, float("nan"))]


def views(x, rate):
    x = x.clone()
    x[1:, 0] = 2 * rate
    x.t()[1].mul_(rate)
    a, b = x.chunk(2, 1)
    a.add_(b, alpha=rate)
    x.view(-1)[::2].zero_()
    return [x, a.transpose(0, 1).reshape(-1), b.flip([0, 1]), x.sum([0, 1], keepdim=True), *x.unbind(0)]


def losses(x, rate):
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.LayerNorm(6)).to("xla")
    loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([1, 0, 5, 2], device="xla"))
    loss.backward()
    with torch.no_grad():
        return [loss, *[p.sub_(rate * p.grad) for p in model.parameters()]]


@unittest.skipIf(torch is None, "there is no PyTorch")
class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from trnsim.torch import _backend, _install
        cls.folder = tempfile.TemporaryDirectory()
        cls.engine = _install.install(_backend.Simulated(cls.folder.name, "trn1.2xlarge"), False, False)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_threads_record_too(self):
        layer, sums = torch.nn.Linear(4, 2).to("xla"), []
        thread = threading.Thread(target=lambda: sums.append(layer(torch.ones(1, 4).to("xla")).sum().item()))
        thread.start()
        thread.join()
        expected = layer.weight.detach().cpu().sum() + layer.bias.detach().cpu().sum()
        self.assertAlmostEqual(sums[0], expected.item(), places=5)

    @unittest.skipUnless(torch and hasattr(torch._C, "_len_torch_dispatch_stack"), "another PyTorch's stack of modes")
    def test_threads_leave_nothing_behind(self):
        begun, left = threading.Thread._bootstrap_inner, []

        def watched(thread):
            begun(thread)
            left.append(torch._C._len_torch_dispatch_stack())
        with mock.patch.object(threading.Thread, "_bootstrap_inner", watched):
            thread = threading.Thread(target=lambda: left.append(torch._C._len_torch_dispatch_stack()))
            thread.start()
            thread.join()
        self.assertEqual(left, [1, 0])

    def test_numbers_that_never_come_back_are_forgotten(self):
        x = torch.ones(2).to("xla")

        def blocks(steps):
            for step in steps:
                x.mul_(1 + 1e-6 * step)
                self.engine.mark_step()
            gc.collect()
            return sys.getallocatedblocks()
        before = blocks(range(1, 600))
        self.assertLess(blocks(range(600, 1800)) - before, 1200)  # three a step when they were kept

    def test_numbers_that_saved_tensor_hooks_see(self):
        x = torch.ones(3, device="xla", requires_grad=True)
        with torch.autograd.graph.save_on_cpu():
            y = (x * 3 / 2.5).sum()
        y.backward()
        self.assertAlmostEqual(x.grad.sum().item(), 3.6, places=5)

    def test_modules_that_wait_for_their_sizes_move_with_them(self):
        sums = []
        for device in ("cpu", "xla"):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.LazyBatchNorm1d()).to(device)
            model(torch.arange(8.0).view(2, 4).to(device))
            self.assertEqual({t.device.type for t in model.state_dict().values()}, {device})
            sums.append(model.eval()(torch.ones(1, 4).to(device)).sum().item())
        self.assertAlmostEqual(*sums, places=5)

    def test_scripted_modules_of_the_host_have_files(self):
        from trnsim.torch._engine import Refused
        layer, x, path = torch.nn.Linear(4, 3), torch.ones(2, 4), os.path.join(self.folder.name, "layer.pt")
        for compiled in (torch.jit.trace(layer, x), torch.jit.script(layer)):
            compiled.save(path)
            self.assertTrue(torch.equal(torch.jit.load(path)(x), layer(x)))
        with self.assertRaisesRegex(Refused, "stays on the host"):
            torch.jit.load(path, map_location="xla")
        with self.assertRaisesRegex(Refused, "saved before it moves"):
            torch.jit.script(layer.to("xla")).save(path)

    def test_both_record_the_same(self):
        engine = self.engine

        def step(body, rate):
            """Its numbers, and how many operators were recorded."""
            torch.manual_seed(0)
            begin = engine.traced
            out = body(torch.arange(16.0).view(4, 4).to("xla"), rate)
            recorded = engine.traced - begin
            engine.mark_step()
            return [t.detach().cpu() for t in out], recorded
        for body in (numbers, views, losses):
            with self.subTest(body.__name__):
                in_python(lambda: step(body, 0.5))
                expected, recorded = in_python(lambda: step(body, 0.125))
                known = len(engine.programs)
                for _ in range(2):
                    got, count = step(body, 0.125)
                    self.assertEqual((count, len(engine.programs)), (recorded, known))
                    self.assertTrue(all(torch.allclose(x, y, 0, 0, equal_nan=True) for x, y in zip(got, expected)))


if __name__ == "__main__":
    unittest.main()
