"""Rules that public training scripts rely on: optimizers made before a model moves, models that go to the host and come
back, inference mode, values that are computed again."""
import pathlib
import re
import sys
import tempfile
import unittest

import forked

HEAD = "import sys, torch, torch.nn as nn, torch.nn.functional as F\ndevice = sys.argv[1]\ntorch.manual_seed(0)\n"
MOVED = HEAD + """
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
model[2].weight.note = "kept"
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model.to(device)
assert model[2].weight.note == "kept"
for step in range(6):
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(step)).to(device)
    loss = model(x).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print("loss", loss.item())
    before = list(model.parameters())
    if step == 2:  # as for a checkpoint
        model.eval().cpu()
        torch.save(model.state_dict(), "model.pt")
    model.to(device).train()
    model.to(device)
    assert step == 2 or all(p is q for p, q in zip(before, model.parameters()))
"""
DEFAULTS = HEAD + """
made = (lambda: torch.ones(2, device=device), lambda: torch.arange(0, 1, 0.5, device=device),
        lambda: torch.ones(2, dtype=torch.int64, device=device) / 2, lambda: nn.Linear(2, 2, device=device).weight,
        lambda: torch.full((2,), 1.5, device=device), lambda: torch.zeros(1, device=device).new_ones(2).mean())
for kind in (torch.float32, torch.float64, torch.float32, torch.bfloat16, torch.float64):
    torch.set_default_dtype(kind)
    print([call().dtype for call in made])
torch.set_default_tensor_type("torch.FloatTensor")
print([call().dtype for call in made], (made[0]() @ made[4]()).item())
"""
PLACED = HEAD + """
torch.set_default_device(device)
model, x = nn.Linear(3, 2), torch.ones(2, 3)
loss = model(x + torch.tensor([1.0, 2.0, 3.0])).square().sum()
loss.backward()
places = [t.device.type for t in (model.weight, x, torch.randn(2), torch.ones_like(torch.ones(1, device="cpu")))]
loaded = [batch.device.type for batch in torch.utils.data.DataLoader([1.0, 2.0])]
where = str(torch.get_default_device())
torch.set_default_device(None)
print(places, loaded, where, torch.ones(1).device.type, "loss", loss.item(), "loss", model.weight.grad.sum().item())
if device == "cuda":
    torch.set_default_tensor_type(torch.cuda.HalfTensor)
    print(torch.ones(1).device.type, torch.ones(1).dtype)
    torch.set_default_tensor_type(torch.FloatTensor)
    print(torch.ones(1).device.type, torch.ones(1).dtype)
"""
HOOKED = HEAD + """
made = [nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)]
made[1].weight = made[0].weight
gone, kept = (made[0].weight.register_hook(call) for call in (lambda g: g * 0, lambda g: g.clamp(-0.1, 0.1)))
made[2].bias.register_hook(lambda g: g * 5)
model = nn.Sequential(*made).to(device)
gone.remove()
for again in range(2):
    model(torch.ones(2, 3).to(device)).square().sum().backward()
    print("loss", model[0].weight.grad.abs().sum().item(), "loss", model[2].bias.grad.sum().item())
    model.cpu().to(device)
"""
WITHOUT_DATA = HEAD + """
import copy
meta = torch.device("meta")
whole = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2))
empty = nn.Sequential(nn.Linear(4, 8, device="meta"), nn.LayerNorm(8, device=meta), nn.Linear(8, 2).to(meta))
with torch.autocast(device, dtype=torch.bfloat16):  # a mode of functions, which calls them a second time
    there = torch.ones(2, 3).to(device)
made = [torch.empty(2, device="meta"), torch.empty_like(there, device=meta), there.to("meta"), torch.ones(2).to(meta),
        there.new_zeros(2, device="meta"), torch.zeros_like(torch.ones(2, device=meta)), empty[0].weight * 2,
        torch.ones(2, device=meta).new_ones(3), torch.arange(3, device="meta"), *empty.parameters()]
print({(t.device == meta, t.is_meta) for t in made}, there.is_meta, empty(torch.ones(3, 4, device=meta)).shape)
for call in (lambda: empty.to(device), lambda: there.copy_(made[0][:, None]), lambda: made[0].to(device=device)):
    try:
        call()
    except NotImplementedError as error:
        print("no data" in str(error))
assert not torch.empty_like(made[0], device=device).is_meta
empty.to_empty(device=device)
print(any(p.is_meta for p in empty.parameters()))
empty.load_state_dict(whole.state_dict())
x = torch.randn(3, 4)
print("close", torch.allclose(empty(x.to(device)).cpu(), whole(x), atol=1e-5))
print(len(list(empty.to("meta").parameters())), {p.device.type for p in copy.deepcopy(empty).parameters()})
"""
LATE = """
import torch, torch_xla.core.xla_model as xm
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model.to(xm.xla_device())
model(torch.ones(1, 2).to(xm.xla_device())).sum().backward()
optimizer.step()
"""
INFERENCE = HEAD + """
model = nn.Linear(4, 3).to(device)
model.register_buffer("mask", torch.tril(torch.ones(4, 4)).to(device))
@torch.inference_mode()
def score(x):
    x = x.to(device)
    seen = x.masked_fill(model.mask[:2, :4] == 0, -1.0)
    out = model(seen).view(6)
    out[1:3] += 1
    return out.sum().item(), model.weight.t()[0].tolist()
print("loss", score(torch.arange(8.0).view(2, 4))[0])
loss = model(torch.ones(2, 4).to(device)).square().sum()
loss.backward()
print("loss", loss.item(), "loss", model.weight.grad.sum().item())
"""
AGAIN = HEAD + """
if device == "cpu":
    from torch.utils.checkpoint import checkpoint
else:
    import torch_xla.core.xla_model as xm
    from torch_xla.utils.checkpoint import checkpoint
layers = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Dropout(0.2)) for _ in range(3)).to(device)
optimizer = torch.optim.SGD(layers.parameters(), lr=0.5)
for step in range(3):
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(step)).to(device).requires_grad_()
    y = x
    for layer in layers:
        y = checkpoint(layer, y) if AGAIN else layer(y)
    loss = y.square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    if device != "cpu": xm.mark_step()
    print("loss", loss.item(), "loss", x.grad.sum().item())
"""
OLD = HEAD + """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(4, 3))
        nn.init.xavier_normal_(self.weight)
        self.bias = nn.Parameter(torch.Tensor([0.1, 0.2, 0.3]))
    def forward(self, x):
        more = x.new(3).fill_(2) + x.new([1.0, 2.0, 3.0])
        return torch.spmm(x, self.weight) + self.bias + more
layer = Layer().to(device)
class Named(torch.Tensor):
    pass
assert type(torch.ones(2, device="cpu").as_subclass(Named)) is Named and torch.Tensor().shape == (0,)
loss = layer(torch.Tensor(torch.arange(8.0).view(2, 4)).to(device)).square().sum()
loss.backward()
print("loss", loss.item(), "loss", layer.weight.grad.sum().item())
"""
NUMBERS = HEAD + """
for make in ("torch.arange(8.0, device=d)", "torch.arange(0, 3.0, device=d)", "torch.arange(1, 2, 0.25, device=d)",
             "torch.arange(5, device=d)", "torch.arange(True, 4, device=d)", "torch.full((2, 2), 7, device=d)",
             "torch.full((2,), 1.5, device=d)", "torch.full((3,), True, device=d)", "torch.full((0,), 2, device=d)",
             "torch.full((2,), 3, dtype=torch.float16, device=d)", "torch.tensor([True, False], device=d).sign()",
             "torch.tensor([0, 3], dtype=torch.uint8, device=d).sign()", "torch.full_like(torch.ones(2), 3, device=d)",
             "torch.rand_like(torch.ones(2), device=d).shape", "torch.ones(2).new_full((3,), 5, device=d)",
             "torch.zeros_like(torch.ones(2, device=d), device='cpu')",
             "torch.ones(2, device=d).new_ones(3, device='cpu')"):
    out = eval(make, {"torch": torch, "d": device})
    print(make, *(out if type(out) is torch.Size else (out.dtype, out.cpu().tolist())))
    if "'cpu'" in make:
        print(out.device)
"""
FUNCTIONS = HEAD + """
from functorch import combine_state_for_ensemble, grad, hessian, jacrev, make_functional, vmap
layers = [nn.Tanh(), nn.Sigmoid(), nn.ReLU(), nn.GELU()]
model, weights = make_functional(nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), kind) for kind in layers)).to(device))
x, labels = torch.randn(5, 4).to(device), torch.randint(0, 4, (5,)).to(device)
def cost(weights, x, label):
    return F.cross_entropy(model(weights, x[None]), label[None])
for each in vmap(grad(cost), (None, 0, 0))(weights, x, labels):
    print("loss", each.square().sum().item())
print("loss", vmap(jacrev(lambda x: model(weights, x)))(x).square().sum().item())
print("loss", hessian(lambda x: model(weights, x).sum())(x[0]).square().sum().item())
several, weights, buffers = combine_state_for_ensemble([nn.Linear(4, 3).to(device) for _ in range(3)])
print("loss", vmap(several, in_dims=(0, 0, None))(weights, buffers, x).square().sum().item())
"""
NEWER = HEAD + """
from torch.func import functional_call, grad, stack_module_state, vmap
def results(device):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 6, 8).to(device).requires_grad_() for _ in range(3))
    mask = (torch.rand(6, 6) > 0.3).to(device) | torch.eye(6).bool().to(device)
    out = []
    for given in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": mask.float(), "scale": 0.1}):
        y = F.scaled_dot_product_attention(q, k, v, **given)
        out += [y, *torch.autograd.grad(y.square().sum(), (q, k, v))]
    out += [F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True), nn.RMSNorm(8).to(device)(q)]
    layer = torch.compile(nn.Linear(8, 3).to(device))
    cost = lambda weights, x: functional_call(layer, weights, (x,)).square().sum()
    out += vmap(grad(cost), in_dims=(None, 0))(dict(layer.named_parameters()), q[0, 0]).values()
    weights, buffers = stack_module_state([layer, nn.Linear(8, 3).to(device)])
    twice = torch.compile(lambda w, b, x: functional_call(layer, (w, b), x) * 2, fullgraph=True)
    return out + [torch.vmap(twice, in_dims=(0, 0, None))(weights, buffers, q[0, 0])]
for a, b in zip(results("cpu"), results(device)):
    assert (a - b.cpu()).abs().max() < 1e-4 * (1 + a.abs().max())
q = torch.arange(6.0).view(1, 1, 3, 2)
print([round(x, 4) for x in F.scaled_dot_product_attention(q, q, q, is_causal=True).flatten().tolist()])
"""


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Moves(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, text, device, *settings):
        path = self.root / "script.py"
        path.write_text(text)
        ours = [] if device == "cpu" else ["-m", "trnsim.torch", "--output_dir", str(self.root / "out"), *settings]
        return forked.run([sys.executable, "-B", *ours, str(path), device], cwd=self.root)

    def same(self, text, device="xla", *settings):
        done = [self.run_it(text, "cpu"), self.run_it(text, device, *settings)]
        for run in done:
            self.assertEqual(run.returncode, 0, run.stderr[-3000:])
        there, here = ([float(x) for x in re.findall(r"loss (\S+)", run.stdout)] for run in done)
        self.assertEqual(len(here), len(there))
        for a, b in zip(here, there):
            self.assertLess(abs(a - b), 1e-4 * max(abs(b), 1e-2), f"{here} and on the CPU {there}")
        return done[1].stderr

    def test_an_optimizer_made_before_the_move_trains(self):
        self.same(MOVED, "cuda", "--numeric", "--cuda")
        self.same(MOVED, "neuron", "--numeric")

    def test_behind_torch_xla_such_an_optimizer_is_an_error(self):
        done = self.run_it(LATE, "xla", "--numeric")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: .*script.py:7: the optimizer was made before the model moved")

    def test_hooks_of_parameters_stay_where_a_move_keeps_the_objects(self):
        self.same(HOOKED, "cuda", "--numeric", "--cuda")
        self.same(HOOKED, "neuron", "--numeric")
        done = self.run_it("import torch_xla\n" + HOOKED, "xla", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the hooks of Linear.weight are not called: torch_xla makes new parameters", done.stderr)

    def test_default_types_may_change(self):
        there, here = self.run_it(DEFAULTS, "cpu"), self.run_it(DEFAULTS, "xla", "--numeric")
        self.assertEqual((here.returncode, here.stdout), (0, there.stdout), here.stderr)

    def test_default_places(self):
        for device, *settings in (("xla",), ("neuron",), ("cuda", "--cuda")):
            done = self.run_it(PLACED, device, "--numeric", *settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            name = "cuda" if device == "cuda" else "xla"
            first, *rest = done.stdout.splitlines()
            self.assertRegex(first, rf"^\['{name}', '{name}', '{name}', 'cpu'\] \['cpu', 'cpu'\] xla cpu loss")
            self.assertEqual(rest, ["cuda torch.float16", "cpu torch.float32"] if device == "cuda" else [])
        self.assertIn("torch.set_default_device('meta') is not supported",
                      self.run_it("import torch\ntorch.set_default_device('meta')\n", "xla", "--numeric").stderr)

    def test_functions_of_functions(self):
        self.same(FUNCTIONS, "xla", "--numeric")

    def test_tensors_without_data_are_pytorchs(self):
        there, here = self.run_it(WITHOUT_DATA, "cpu"), self.run_it(WITHOUT_DATA, "xla", "--numeric")
        self.assertEqual((there.returncode, here.returncode, here.stdout), (0, 0, there.stdout), here.stderr)

    def test_names_of_later_versions(self):
        done = self.run_it(NEWER, "xla", "--numeric")
        self.assertEqual((done.returncode, done.stdout), (0, "[0.0, 1.0, 1.9983, 2.9983, 4.0, 5.0]\n"), done.stderr)

    def test_views_in_inference_mode(self):
        self.same(INFERENCE, "xla", "--numeric")

    def test_tensors_by_the_old_constructors(self):
        self.same(OLD, "xla", "--numeric")
        self.same(OLD, "xla", "--numeric", "--default_device")

    def test_types_of_tensors_made_of_numbers(self):
        there, here = self.run_it(NUMBERS, "cpu"), self.run_it(NUMBERS, "xla", "--numeric")
        self.assertEqual((here.returncode, here.stdout), (0, there.stdout), here.stderr)

    def test_values_computed_again_are_in_the_graph(self):
        counts = []
        for again in ("True", "False"):
            self.same(AGAIN.replace("AGAIN", again))
            graphs = [path.read_text() for path in sorted((self.root / "out").glob("graph*.mlir"))]
            counts.append((max(text.count("stablehlo.dot_general") for text in graphs),
                           max(text.count("optimization_barrier") for text in graphs)))
        self.assertEqual(counts, [(12, 3), (9, 0)])  # three layers: forward, again, and two gradients each

    def test_a_name_that_is_not_there_is_one_error(self):
        for text, words in (("from torch_xla.core.xla_model import no_such",
                             "no_such of the module torch_xla.core.xla_model"),
                            ("import torch_xla.experimental.pallas", "the module torch_xla.experimental.pallas"),
                            ("import torch_neuronx as t; t.no_such", "no_such of the module torch_neuronx"),
                            ("torch.neuron.device_count()", "the module torch.neuron"),
                            ("import neuronxcc.nki", "the module neuronxcc")):
            done = self.run_it("import torch\n" + text + "\n", "xla", "--numeric")
            self.assertEqual((done.returncode, done.stderr.count("error: ")), (1, 1), done.stderr)
            self.assertRegex(done.stderr, rf"script.py:2: {words} is not supported")
        self.assertIn("no verb runs both a kernel and operators of PyTorch on the device", done.stderr)


if __name__ == "__main__":
    unittest.main()
