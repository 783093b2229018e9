"""Rules of the simulated device in PyTorch scripts: variables of the environment, steps of changing batches, operators
of the host, infinities, arguments that are not there."""
import os
import pathlib
import sys
import tempfile
import unittest

import forked

try:
    import torch
except ImportError:
    torch = None

HEAD = "import torch, torch.nn as nn, torch.nn.functional as F\n"
TRAIN = HEAD + """
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 4)).to("xla")
o = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
for s in range(STEPS):
    g = torch.Generator().manual_seed(s)
    n = SIZE
    x, y = torch.randn(n, 16, generator=g), torch.randint(0, 4, (n,), generator=g)
    o.zero_grad(); l = F.cross_entropy(m(x.to("xla")), y.to("xla")); l.backward(); o.step()
    print("loss", repr(l.item()), repr(m[0].weight.detach().cpu().flatten()[0].item()))
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "script.py"

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, text, *settings, **variables):
        self.path.write_text(text)
        command = [sys.executable, "-B", "-m", "trnsim.torch", *settings, str(self.path)]
        return forked.run(command, env=dict(os.environ, **variables))

    def lines(self, text, *settings, **variables):
        done = self.run_script(text, *settings, **variables)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.report = done.stderr
        return done.stdout.splitlines()

    def trained(self, size="8", steps=3, settings=("--numeric",), **variables):
        out = self.lines(TRAIN.replace("SIZE", size).replace("STEPS", str(steps)), *settings, **variables)
        return [[float(x) for x in line.split()[1:]] for line in out]

    def test_xla_use_bf16_makes_every_float_bf16(self):
        plain, lower = self.trained(), self.trained(XLA_USE_BF16="1")
        self.assertIn("obeyed                    XLA_USE_BF16=1, stochastic rounding, seed 0", self.report)
        for numbers, other in zip(lower, plain):
            for x, y in zip(numbers, other):
                self.assertEqual(x, torch.tensor(x).to(torch.bfloat16).item())
                self.assertNotEqual(x, y)
                self.assertLess(abs(x - y), 0.02 * abs(y) + 1e-3)

    def test_auto_cast_of_matmuls_changes_products_alone(self):
        plain = self.trained()
        lower = self.trained(NEURON_CC_FLAGS="--auto-cast=matmult --model-type transformer -O1",
                             NEURON_RT_LOG_LEVEL="INFO")
        self.assertIn("obeyed                    --auto-cast=matmult\n", self.report)
        self.assertIn("without effect here       --model-type=transformer, -O1, NEURON_RT_LOG_LEVEL=INFO", self.report)
        for (loss, weight), (other, _) in zip(lower, plain):
            self.assertNotEqual(weight, torch.tensor(weight).to(torch.bfloat16).item())
            self.assertTrue(0 < abs(loss - other) < 0.01 * other)

    def test_values_of_variables_that_mean_nothing_are_errors(self):
        for name, value in (("XLA_USE_BF16", "2"), ("NEURON_CC_FLAGS", "--auto-cast=some"),
                            ("NEURON_CC_FLAGS", "--auto-cast=all --auto-cast-type=tf32")):
            done = self.run_script(HEAD + 'torch.ones(2).to("xla")\n', "--numeric", **{name: value})
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"error: .*script.py:2: .*environment: {name}")

    def test_visible_cores_are_what_spawn_starts(self):
        script = "import torch_xla.distributed.xla_multiprocessing as xmp\nimport torch_xla.core.xla_model as xm\n" \
                 "def f(i): xm.master_print('cores', xm.xrt_world_size())\nxmp.spawn(f)\n"
        self.assertEqual(self.lines(script, "--numeric", NEURON_RT_VISIBLE_CORES="0-2"), ["cores 3"])

    def test_steps_of_a_changing_batch_are_all_counted(self):
        self.trained("4 if s % 3 == 2 else 8", 9, ())
        self.assertRegex(self.report, r"the script +\S+ \S+ for its 9 steps")

    def test_operators_without_a_rule_are_the_hosts(self):
        out = self.lines(HEAD + """
x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
grads = []
for device in ("cpu", "xla"):
    y = x.clone().to(device).requires_grad_()
    (torch.linalg.eigvalsh(y @ y.t()).sum() + torch.linalg.svdvals(y)[0]).backward()
    grads.append(y.grad.cpu())
print((grads[0] - grads[1]).abs().max().item() < 1e-5)
""", "--numeric")
        self.assertEqual(out, ["True"])
        self.assertRegex(self.report, r"left to the host +.*aten::_linalg_eigh x 1.*aten::_linalg_svd x 1")

    def test_infinities_are_not_spread_by_transposes(self):
        out = self.lines(HEAD + """
x = torch.randn(35, 40, generator=torch.Generator().manual_seed(0))
x[x > 1] = float("-inf")
d = x.to("xla")
for f in (lambda x: x.softmax(0), lambda x: x.max(0)[0], lambda x: x.t().contiguous(), lambda x: x[:, 3].sort()[0]):
    print(torch.allclose(f(x), f(d).cpu()))
""", "--numeric")
        self.assertEqual(out, ["True"] * 4)
        self.assertRegex(self.report, r"the simulated instructions; \d+ runs with infinities or NaN")

    def test_zeros_keep_their_signs(self):
        out = self.lines(HEAD + """
x = torch.tensor([-0.0, 0.0, -0.0, -2.0]).to("xla")
for y in (1 / x, x.reciprocal(), 3 / x, torch.copysign(torch.ones(4).to("xla"), x), x.abs().rsqrt(), 1 / (x * 0.5)):
    print(y.tolist())
print(torch.signbit(x).tolist(), torch.signbit(-torch.zeros(2).to("xla")).tolist())
""", "--numeric")
        self.assertEqual(out, ["[-inf, inf, -inf, -0.5]"] * 2 + ["[-inf, inf, -inf, -1.5]", "[-1.0, 1.0, -1.0, -1.0]",
                               "[inf, inf, inf, 0.7071067690849304]", "[-inf, inf, -inf, -1.0]",
                               "[True, False, True, True] [True, True]"])

    def test_functions_of_large_numbers(self):
        out = self.lines(HEAD + """
turns = torch.tensor([0.0, 1.5707964, -3.0, 1e3, 1e4, -1e5, 131071.0])
print((turns.to("xla").cos().cpu() - turns.double().cos()).abs().max().item() < 3e-7)
x = torch.tensor([-1334.0, -92.6, -89.0, -30.0, -1.0, -1e-3, 0.0, 0.5, 21.0, 88.9, 169.0, float("inf"), float("nan")])
for call in (torch.sinh, torch.cosh):
    print(torch.allclose(call(x.to("xla")).cpu(), call(x), rtol=1e-5, atol=0, equal_nan=True))
""", "--numeric")
        self.assertEqual(out, ["True"] * 3)

    def test_convolutions_of_nothing_are_zeros(self):
        out = self.lines(HEAD + """
for call, sizes in ((F.conv2d, (4, 3, 2, 2)), (F.conv1d, (4, 3, 2)), (F.conv_transpose2d, (3, 4, 2, 2))):
    x, w = torch.zeros(0, 3, *[5] * (len(sizes) - 2)).to("xla").requires_grad_(), torch.ones(sizes).to("xla")
    w.requires_grad_()
    y = call(x, w, torch.ones(4).to("xla").requires_grad_(), padding=1)
    y.sum().backward()
    print(list(y.shape), list(x.grad.shape), list(w.grad.shape), w.grad.abs().sum().item())
""", "--numeric")
        self.assertEqual(out, ["[0, 4, 6, 6] [0, 3, 5, 5] [4, 3, 2, 2] 0.0", "[0, 4, 6] [0, 3, 5] [4, 3, 2] 0.0",
                               "[0, 4, 4, 4] [0, 3, 5, 5] [3, 4, 2, 2] 0.0"])

    def test_pieces_of_scripts_give_the_cpus_numbers(self):
        out = self.lines(HEAD + """
def pieces(device):
    x = torch.randn(5, 7, generator=torch.Generator().manual_seed(0)).to(device).requires_grad_()
    packed = nn.utils.rnn.pack_padded_sequence(x[None].expand(3, 5, 7), torch.tensor([5, 3, 2]), batch_first=True)
    y = [packed.data.sum(), nn.utils.rnn.pad_packed_sequence(packed)[0].square().sum(), x.quantile(0.3)]
    y += [(x.softmax(1) * F.one_hot(x.argmax(1), 7)).sum(), x.median(1)[0].sum(), x.cummax(1)[0].sum()]
    y += [x.unfold(1, 3, 2).square().sum(), torch.cdist(x, x[:2] + 1).sum(), x.sgn().sum(), x.logcumsumexp(1).sum()]
    y += [F.rrelu(x, training=True).square().sum(), x.index_fill(1, torch.tensor([0, 3]).to(device), 2.0).sum()]
    y += [x.masked_scatter(x > 0, x * 2).sum(), F.huber_loss(x, x.detach() * 2), F.max_pool2d(x[None], 2).sum()]
    y += [torch.zeros(5, 7).to(device).scatter_reduce(0, torch.ones(5, 7).long().to(device), x, how).square().sum()
          for how in ("sum", "mean", "amax")]
    rates = torch.arange(1.0, 8).to(device) / 10
    y += [F.prelu(x[0], rates[:1]).square().sum(), F.prelu(x, rates).square().sum()]
    y.append(torch.tensor([v.detach() for v in y[:3]], device=device).sum())
    for v in y:
        yield v, torch.autograd.grad(v, x, retain_graph=True)[0] if v.requires_grad else v
torch.manual_seed(0)
there = [[t.detach() for t in pair] for pair in pieces("cpu")]
torch.manual_seed(0)
for i, (a, b) in enumerate(zip(pieces("xla"), there)):
    if not all(torch.allclose(x.detach().cpu(), y, rtol=1e-4, atol=1e-5) for x, y in zip(a, b)):
        print("other numbers:", i)
print("of", len(there))
""", "--numeric")
        self.assertEqual(out, ["of 21"])

    def test_nothing_is_trained_on_inf2(self):
        done = self.run_script(TRAIN.replace("SIZE", "8").replace("STEPS", "1"), "--instance_type", "inf2.xlarge")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: .*script.py:10: inf2.xlarge is for inference only")

    def test_arguments_that_are_not_there_are_errors(self):
        for call, words in (("xm.all_reduce('sum', x, scales=2)", "unexpected keyword argument 'scales'"),
                            ("pl.MpDeviceLoader([x], d, prefetch=3)", "unexpected keyword argument 'prefetch'"),
                            ("xm.xla_device(n=3)", "each process has one device"),
                            ("pl.MpDeviceLoader([x], d, input_sharding=1)", "call torch_xla.runtime.use_spmd() first")):
            done = self.run_script("import torch, torch_xla.core.xla_model as xm\n"
                                   "import torch_xla.distributed.parallel_loader as pl\n"
                                   f"d = xm.xla_device(); x = torch.ones(2).to(d)\n{call}\n", "--numeric")
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertIn("script.py\", line 4", done.stderr)

    def test_permutes_between_cores(self):
        out = self.lines("""
import torch, torch_xla.core.xla_model as xm, torch_xla.distributed.xla_multiprocessing as xmp
import torch.distributed as dist, torch_xla.distributed.xla_backend
def f(i):
    dist.init_process_group("xla")
    x = torch.arange(2.).to(xm.xla_device()) + (i * 10. + 5)
    parts = [torch.zeros(2).to(x.device) for _ in range(3)]
    dist.all_to_all(parts, [x, x + 1, x + 2])
    print(i, xm.collective_permute(x, [(0, 1), (1, 2), (2, 0)]).tolist(), xm.collective_permute(x, [(0, 1)]).tolist(),
          [p.tolist() for p in parts], flush=True)
xmp.spawn(f, nprocs=3)
""", "--numeric")
        self.assertEqual(sorted(out), ["0 [25.0, 26.0] [0.0, 0.0] [[5.0, 6.0], [15.0, 16.0], [25.0, 26.0]]",
                                       "1 [5.0, 6.0] [5.0, 6.0] [[6.0, 7.0], [16.0, 17.0], [26.0, 27.0]]",
                                       "2 [15.0, 16.0] [0.0, 0.0] [[7.0, 8.0], [17.0, 18.0], [27.0, 28.0]]"])


if __name__ == "__main__":
    unittest.main()
