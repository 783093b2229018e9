"""PyTorch's own rules, as scripts on the device meet them: NaN and no elements, files of tensors, compiled functions,
operators of other libraries, tensors that take the memory of others."""
import unittest

import device_scripts

try:
    import torch
except ImportError:
    torch = None

SIGNS = """
nan = float("nan")
t = torch.tensor([nan, -2.0, 0.0, 3.0, float("inf"), -float("inf")])
for call in (torch.sign, torch.sgn, lambda x: x.clone().sign_(), lambda x: x.bfloat16().sgn(), torch.trunc):
    assert str(call(t).tolist()) == str(call(t.to(d)).tolist()), (call(t), call(t.to(d)))
x, y = t.clone().requires_grad_(), t.to(d).requires_grad_()
x.abs().sum().backward(); y.abs().sum().backward()  # whose gradient has the sign
assert x.grad.tolist() == y.grad.tolist() == [0, -1, 0, 1, 1, -1]
"""
SIZES = """
import torch.nn.functional as F
def at(*sizes): return torch.ones(sizes).to(d)
def wide(x, k, turned=0, **given): return lambda: (F.conv_transpose2d if turned else F.conv2d)(x, k, **given)
large = "Kernel size can't be greater than actual input size"
for call, words in ((wide(at(1, 1, 2, 3), at(1, 1, 3, 1)), large), (lambda: F.conv1d(at(2, 2, 2), at(1, 2, 3)), large),
                    (lambda: nn.Conv3d(1, 1, 2).to(d)(at(1, 1, 1, 2, 2)), large),
                    (wide(at(1, 3, 8, 8), at(4, 2, 3, 3), turned=1), "expected input[0, 3, 8, 8] to have 4 channels"),
                    (wide(at(1, 3, 8, 8), at(4, 2, 3, 3)), "to have 2 channels"),
                    (wide(at(1, 4, 8, 8), at(6, 1, 3, 3), groups=4), "divisible by 4"),
                    (wide(at(1, 4, 8, 8), at(6, 4, 3, 3), bias=at(5)), "1-dimensional with 6 elements")):
    refused(call, RuntimeError, words)
assert F.conv2d(at(0, 1, 4, 4), at(2, 1, 3, 3)).shape == (0, 2, 2, 2)
for call in (torch.triu, torch.tril):
    refused(lambda: call(at(3)), (RuntimeError, IndexError), "")
assert torch.triu(at(2, 2)).tolist() == [[1, 1], [0, 1]]
"""
MIXED = """
here, x = torch.randn(3, 4), torch.randn(3, 4)
there = x.to(d)
def same(a, b): assert str(a.device) == "xla:0" and torch.allclose(a.cpu(), b, atol=1e-6), (a, b)
for name in ("add", "sub", "mul", "div"):
    call, a, b = getattr(torch, name), there.clone(), x.clone()
    same(call(there, here), call(x, here)), same(call(here, there), call(here, x))
    same(getattr(a, name + "_")(here), getattr(b, name + "_")(here))
same(2 - there * here[0] + here[:, :1].double(), (2 - x * here[0] + here[:, :1].double()))
p, q = nn.Parameter(x.clone()), nn.Parameter(there.clone())
(p * here).sum().backward(), (q * here).sum().backward()
same(q.grad, p.grad)
one = "Expected all tensors to be on the same device"
for call in (lambda: there @ here.T, lambda: torch.cat([there, here]), lambda: torch.where(there > 0, there, here)):
    refused(call, RuntimeError, one)
for call in (lambda: here.add_(there), lambda: torch.tensor(0.0).add_(there[0, 0]), lambda: torch.neg(there, out=here)):
    refused(call, RuntimeError, "a tensor of the host cannot be changed in place by one of the device")
xm.mark_step()
made = met.metric_data("CompileTime")[0]
totals = [(there * torch.full((3, 4), float(i))).sum().item() for i in range(3)]
assert met.metric_data("CompileTime")[0] == made + 1 and totals[0] == 0 and totals[2] == 2 * totals[1]
"""
CAPTURABLE = """
import io
def trained(d, kind, **given):
    torch.manual_seed(0)
    model = nn.Linear(4, 3).to(d)
    optimizer = kind(model.parameters(), lr=0.01, weight_decay=0.1, **given)
    def steps():
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(2, 4, device=d)).square().sum().backward()
            optimizer.step()
            xm.mark_step()
    steps()
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    optimizer.load_state_dict(torch.load(file, map_location="cpu"))
    reads = met.metric_data("TransferFromServerTime")[0] if d != "cpu" else 0
    steps()
    assert d == "cpu" or met.metric_data("TransferFromServerTime")[0] == reads  # of the number of steps
    assert all(float(state["step"]) == 8 for state in optimizer.state.values())
    return torch.cat([p.detach().cpu().flatten() for p in model.parameters()])
for kind in (torch.optim.Adam, torch.optim.AdamW):
    for given in ({}, {"amsgrad": True}, {"foreach": True}):
        got, want = trained(d, kind, capturable=True, **given), trained("cpu", kind, **given)
        assert torch.allclose(got, want, atol=1e-5), (kind, given, got, want)
assert not torch.ones(1).to(d).is_cuda
refused(lambda: trained("cpu", torch.optim.Adam, capturable=True), AssertionError)
"""
COMPILED = """
import torch._dynamo as dynamo
import torch._dynamo.config
torch._dynamo.reset()
torch._dynamo.config.cache_size_limit = dynamo.config.accumulated_cache_size_limit = 64
with torch._dynamo.config.patch(suppress_errors=True): assert dynamo.config.suppress_errors
assert not dynamo.config.suppress_errors and not dynamo.is_compiling() and not torch.compiler.is_compiling()
refused(lambda: setattr(dynamo.config, "no_such", 1), AttributeError, "torch._dynamo.config.no_such does not exist")
refused(lambda: torch.compile(print, backends="openxla"), TypeError, "backends")
def runs(call):  # graphs that run in it, whose results are dropped
    before = met.metric_data("ExecuteTime")[0]
    call()
    return met.metric_data("ExecuteTime")[0] - before
model, x = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)).to(d), torch.ones(4, 8).to(d)
(x + 1).cpu()
waiting = x * 5  # pending, and no part of what follows
fast = torch.compile(model, backend="openxla", dynamic=False)
assert isinstance(fast, dynamo.eval_frame.OptimizedModule) and fast._orig_mod is model
assert [runs(lambda: fast(x)) for _ in range(3)] == [1, 1, 1] and model[1].num_batches_tracked.item() == 3
assert runs(lambda: waiting.cpu()) == 1
assert runs(lambda: fast(x + 1)) == 2  # a pending input is computed by a graph of its own
assert set(fast.state_dict()) == {"_orig_mod." + name for name in model.state_dict()}
assert fast.eval() is fast and not model.training and fast.train().training
f = torch.compile(lambda a, b: a.cos() + b, backend="neuron")
assert runs(lambda: f(x, b=x)) == 1 and runs(lambda: torch.compile(lambda: f(x, x), backend="openxla")()) == 1
@dynamo.optimize("openxla")
def broken(a):
    b = a + 1
    dynamo.graph_break()
    return b * 2
assert runs(lambda: broken(x)) == 2
plain = torch.compile(lambda a: a + 1)
assert runs(lambda: plain(x)) == 0 and runs(lambda: torch.compile(lambda a: a, backend="openxla")(torch.ones(2))) == 0
other = nn.Linear(8, 8).to(d)
other.compile(backend="openxla")
assert runs(lambda: other(x)) == 1
xm.mark_step()
grads = []
for one in (model, fast):  # the forward pass alone runs at the call: nothing of it runs again for the gradient
    xm.mark_step()
    model.zero_grad(set_to_none=True)
    out = one(x)
    assert runs(lambda: out.sum().backward()) == 0
    assert runs(xm.mark_step) == 1
    grads.append([p.grad.cpu() for p in model.parameters()])
assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*grads))
import torch_neuronx
still = torch_neuronx.trace(torch.compile(nn.Linear(8, 2), backend="openxla"), torch.ones(1, 8))
assert still(torch.ones(1, 8)).shape == (1, 2)
"""
SAVED = """
import copy, io, pickle
def again(x):
    file = io.BytesIO()
    torch.save(x, file); file.seek(0)
    return torch.load(file)
for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.int32, torch.bool):
    t = (torch.arange(6).view(2, 3) / 4).to(dtype)
    for back in (again(t.to(d)), pickle.loads(pickle.dumps(t.to(d))), again({"a": [t.to(d).t()]})["a"][0].t()):
        assert back.dtype is dtype and back.device == d and torch.equal(back.cpu(), t), (back, t)
m = nn.Linear(4, 4).to(torch.bfloat16).to(d)
state = again(m.state_dict())
assert state["weight"].dtype is torch.bfloat16 and torch.equal(state["weight"].cpu(), m.weight.detach().cpu())
p = again(m.weight)
assert type(p) is type(m.weight) and p.requires_grad and p.dtype is torch.bfloat16
assert again(torch.ones(2, dtype=torch.bfloat16).to(d).requires_grad_()).requires_grad
"""
EMPTY = """
def told(call, x):
    try:
        out = call(x)
    except Exception as error:
        return type(error).__name__, str(error)
    return [(t.shape, str(t.tolist())) for t in (out if isinstance(out, tuple) else (out,))]
e = torch.zeros(2, 0, 4)
for f in (torch.max, torch.min, torch.median, torch.argmax, torch.argmin, torch.amax, torch.amin, torch.aminmax):
    assert told(f, e) == told(f, e.to(d)), (told(f, e), told(f, e.to(d)))
for f in (torch.max, torch.median, torch.argmin, torch.amax, torch.cummax, torch.sort, torch.mode, torch.logsumexp):
    for dim in (0, 1, 2, -1):
        g = lambda x: f(x, dim)
        assert told(g, e) == told(g, e.to(d)), (f, told(g, e), told(g, e.to(d)))
assert told(torch.max, e)[0] == "RuntimeError" and told(lambda x: x.max(1), e)[0] == "IndexError"
"""
OTHERS = """
import torchvision
boxes, scores = torch.tensor([[0.0, 0, 3, 2], [3, 3, 11, 7], [2, 2, 5, 7]]), torch.tensor([0.9, 0.5, 0.95])
kinds = torch.tensor([0, 1, 0])
for most in (0.3, 0.01):
    out = torchvision.ops.nms(boxes.to(d), scores.to(d), most)
    assert out.device == d and out.tolist() == torchvision.ops.nms(boxes, scores, most).tolist()
out = torchvision.ops.batched_nms(boxes.to(d), scores.to(d), kinds.to(d), 0.01)
assert out.tolist() == torchvision.ops.batched_nms(boxes, scores, kinds, 0.01).tolist()
x, w = (torch.ones(1, 2, 6, 6) + i for i in range(2))
y, w = x.to(d).requires_grad_(), torch.ones(1, 2, 3, 3).to(d).requires_grad_()
torchvision.ops.deform_conv2d(y, torch.zeros(1, 18, 4, 4).to(d), w).sum().backward()
assert y.grad.sum().item() == 288 and w.grad.sum().item() == 288, (y.grad.sum(), w.grad.sum())
"""
MINE = """
from torch.library import Library
mine = Library("mine", "DEF")
mine.define("twice(Tensor x) -> Tensor"); mine.impl("twice", lambda x: x * 2, "CPU")
mine.define("more_(Tensor(a!) x) -> Tensor(a!)"); mine.impl("more_", lambda x: x.add_(1), "CPU")
mine.define("gpu(Tensor x) -> Tensor"); mine.impl("gpu", lambda x: x * 2, "CUDA")
x = torch.ones(3).to(d)
assert torch.ops.mine.twice(x).tolist() == [2.0] * 3
torch.ops.mine.more_(x)
print(x.tolist(), flush=True)
torch.ops.mine.gpu(x)
"""
TAKEN = """
a = torch.zeros(50, device=d); a += 1; b = torch.arange(10.0, device=d)
assert a.set_(b) is a and a.shape == (10,)
b += 1  # the same memory
assert a.tolist() == [i + 1.0 for i in range(10)]
a.set_(b[2:8].view(2, 3))
assert a.tolist() == [[3, 4, 5], [6, 7, 8]]
a.mul_(10)
assert b.tolist() == [1, 2, 30, 40, 50, 60, 70, 80, 9, 10]
c = torch.ones(4, device=d)
assert c.set_().shape == (0,) and c.set_(torch.ones(3, device=d)).tolist() == [1.0] * 3
refused(lambda: c.set_(torch.ones(3, dtype=torch.int32, device=d)), RuntimeError, "dtype()")
refused(lambda: c.set_(torch.ones(3)), RuntimeError, "at least two devices")
refused(lambda: c.set_(b, 2, (2, 3), (3, 1)), NotImplementedError, "give the tensor whose memory it is")
"""

MASKED = """
import torch.nn.functional as F
def losses(columns, device):  # of rows some of whose scores are masked, the last one's label too
    torch.manual_seed(1)
    x, mask, labels = torch.randn(6, columns), torch.rand(6, columns) < 0.4, torch.randint(0, columns, (6,))
    mask[torch.arange(6), labels] = torch.arange(6) == 5
    x, mask, labels = x.to(device).requires_grad_(), mask.to(device), labels.to(device)
    rows = F.cross_entropy(x.masked_fill(mask, -float("inf")), labels, reduction="none")
    some = F.cross_entropy(x.masked_fill(mask, -float("inf")), labels.masked_fill(torch.arange(6).to(device) > 3, -100))
    (rows[:5].sum() + some).backward()
    return rows.tolist() + [some.item()], x.grad.cpu()
for columns in (9, 5000):
    (a, b), (c, e) = losses(columns, "cpu"), losses(columns, d)
    assert torch.allclose(torch.tensor(a), torch.tensor(c)) and a[5] == float("inf"), (a, c)
    assert torch.allclose(b, e, atol=1e-6)
high = torch.full((2, 3), 1e4, device=d)  # log(3), of which a sum with the score would leave three digits
for loss in (F.cross_entropy(high, x := torch.tensor([0, 1]).to(d)), F.nll_loss(high.log_softmax(1), x)):
    assert abs(loss.item() - 1.0986123) < 1e-6, loss
"""

BITS = """
def viewed(device):
    torch.manual_seed(0)
    x = torch.randn(3, 4).to(device)
    i, small = x.view(torch.int32), x.bfloat16()
    out = [i, i >> 23, x.view(torch.uint8), x.view(torch.int16), (i & 0x7FFFFFFF).view(torch.float32),
           small.view(torch.int16), small.view(torch.uint8).view(torch.bfloat16), (x > 0).view(torch.uint8),
           x[:, 2:].view(i.dtype)]
    x[1:].view(torch.int32).bitwise_and_(-65536)  # a write to the bits is one to the numbers
    return out + [x, i]
for a, b in zip(viewed("cpu"), viewed(d)):
    assert a.dtype is b.dtype and torch.equal(a, b.cpu()), (a, b)
wide = torch.ones(2, dtype=torch.float64).to(d).view(torch.int64)
refused(lambda: print(wide), BaseException, "32 bits in the place of 64")
"""
NUMBERS = """
def numbers(place):
    out = []
    for dtype in (torch.int32, torch.uint8, torch.bool):
        x, k = torch.tensor([0, 1, 5, 200]).to(dtype).to(place), True if dtype is torch.bool else 6
        y = x.clone()
        y |= k; y ^= k; y &= k
        out += [x | k, x ^ k, x & k, k | x, k ^ x, k & x, x & 6, y.clone(),
                y.bitwise_or_(k).bitwise_xor_(k).bitwise_and_(k)]
    return out + [torch.asarray([1, 2], device=place), torch.asarray(2.5, device=place)]
for a, b in zip(numbers("cpu"), numbers(d)):
    assert a.dtype is b.dtype and torch.equal(a, b.cpu()), (a, b)
t = torch.tensor([True, False])
assert (t | True).dtype is (t & True).dtype is torch.bool and (t | 6).tolist() == [7, 6]
u = torch.arange(4); u |= 1; assert u.tolist() == [1, 1, 3, 3] and (3 ^ u).tolist() == [2, 2, 0, 0]
"""

TYPES = """
x, i = torch.ones(2).to(d), torch.tensor([1, 2]).to(d)
for call in (lambda: x | x, lambda: x ^ 1, lambda: x << i, lambda: i.softmax(0), lambda: i.log_softmax(0)):
    refused(call, RuntimeError, "not implemented for")
refused(lambda: torch.view_as_complex(x), NotImplementedError, "torch.complex64 is not on the device")
w, f = torch.arange(6.).view(3, 2).to(d), torch.tensor([1., 0.]).to(d)
for call in (lambda: torch.index_select(w, 0, f), lambda: w.index_fill(0, f, 1.),
             lambda: w.clone().index_fill_(0, f, 1.), lambda: torch.nn.functional.nll_loss(w[:2], f)):
    refused(call, (RuntimeError, IndexError), "xpected ")
for below in (-1, -2, -100):  # as XLA's TorchIndexSelect: unsigned, and clamped; 32 bits keep their sign
    for dtype, row in ((torch.int64, [4, 5]), (torch.int32, [0, 1])):
        places = torch.tensor([[below, 1]], dtype=dtype).to(d)
        assert torch.nn.functional.embedding(places, w).tolist() == [[row, [2, 3]]], (below, dtype)
        assert w.index_select(0, places[0]).tolist() == [row, [2, 3]], (below, dtype)
assert i.softmax(0, dtype=torch.float32).sum().item() == 1
whole = torch.tensor([1, 2]).to(d)
for _ in range(2):
    refused(lambda: whole.add_(0.5), RuntimeError, "result type Float can't be cast to the desired output type Long")
    refused(lambda: whole[:1].mul_(x[:1]), RuntimeError, "desired output type Long")
    refused(lambda: (whole > 1).add_(1), RuntimeError, "result type Long can't be cast to the desired output type Bool")
    refused(lambda: torch.add(x, 1, out=whole), RuntimeError, "desired output type Long")
assert whole.tolist() == [1, 2] and x.add_(whole).tolist() == [2, 3] and x.half().add_(x).tolist() == [4, 6]
"""
FULL = """
made = [torch.full((2, 2), True), torch.full(size=(2, 2), fill_value=True, device=d),
        torch.full((2, 2), False, device="cpu")]
assert all(t.dtype is torch.bool for t in made) and made[1].tril().tolist() == [[True, False], [True, True]], made
whole = [torch.full((2,), 1), torch.full((2,), 1, device=d), torch.full((2,), True, dtype=torch.int64, device=d)]
assert all(t.dtype is torch.int64 for t in whole) and torch.full((1,), 0.5, device=d).dtype is torch.float32
assert torch.full((1,), True, dtype=torch.float32).dtype is torch.float32
assert torch.full((2,), True, out=torch.empty(2)).tolist() == [1.0, 1.0]
"""
LEFT_OUT = """
import torch.nn.functional as F
for call in (F.cross_entropy, F.nll_loss):
    for given in (dict(), dict(weight=torch.tensor([1.0, 2.0, 3.0]).to(d)), dict(label_smoothing=0.1)):
        if call is F.cross_entropy or "label_smoothing" not in given:
            x = torch.randn(2, 3).to(d).requires_grad_()
            loss = call(x, torch.tensor([-100, -100]).to(d), **given)
            loss.backward()
            assert loss.isnan().item() and x.grad.tolist() == [[0, 0, 0], [0, 0, 0]], (given, loss, x.grad)
"""
PRINTED = """
x, p = torch.ones(2).to(d), nn.Parameter(torch.ones(2).to(d))
assert repr(x.bfloat16()) == "tensor([1., 1.], device='xla:0', dtype=torch.bfloat16)", x.bfloat16()
assert repr(p) == "Parameter containing:\\ntensor([1., 1.], device='xla:0', requires_grad=True)", p
assert repr(p * 2) == "tensor([2., 2.], device='xla:0', grad_fn=<MulBackward0>)", p * 2
assert x.get_device() == 0
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Corners(device_scripts.Scripts):
    def test_the_sign_of_nan_is_zero(self):
        self.runs(SIGNS)

    def test_masked_scores_are_no_part_of_a_loss(self):
        self.runs(MASKED)

    def test_a_batch_without_targets_has_no_gradient(self):
        self.runs(LEFT_OUT)

    def test_tensors_full_of_true_are_masks(self):
        self.runs(FULL)
        self.runs(FULL, "--default_device")

    def test_bits_are_viewed_as_another_type(self):
        self.runs(BITS)

    def test_numbers_beside_tensors_of_bits(self):
        self.runs(NUMBERS)

    def test_types_that_an_operator_does_not_take_are_pytorchs_error_at_their_line(self):
        self.runs(TYPES)

    def test_sizes_that_do_not_fit_are_pytorchs_error_at_their_line(self):
        self.runs(SIZES)

    def test_one_operand_of_arithmetic_may_be_on_the_host(self):
        self.runs(MIXED)

    def test_adam_counts_its_steps_on_the_device(self):
        self.runs(CAPTURABLE)

    def test_a_compiled_function_runs_at_its_call(self):
        self.runs(COMPILED)

    def test_tensors_of_every_type_are_saved(self):
        self.runs(SAVED)

    def test_nothing_has_no_largest(self):
        self.runs(EMPTY)

    def test_operators_of_other_libraries_are_the_hosts(self):
        try:
            import torchvision  # noqa: whether it is there
        except ImportError:
            self.skipTest("no torchvision")
        self.assertRegex(self.runs(OTHERS).stderr, "left to the host .*torchvision::nms x 3")

    def test_operators_of_a_script_are_the_hosts(self):
        done = self.ran(MINE)
        self.assertEqual((done.returncode, done.stdout), (1, "[2.0, 2.0, 2.0]\n"), done.stderr)
        self.assertRegex(done.stderr, r"error: .*script.py:\d+: mine.gpu.default: there is no rule for it here, and .* "
                                      "no kernel of the CPU")

    def test_without_values_the_hosts_operator_is_named(self):
        bag = "nn.EmbeddingBag(10, 4, mode='sum').to(d)(torch.ones(3, 4).long().to(d))"
        for line, name in ((bag, "_embedding_bag"), ("x[x > 1]", "nonzero"), ("x.unique()", "_unique2"),
                           ("torch.linalg.svdvals(x.view(1, 3))", "_linalg_svd")):
            done = self.ran(f"x = torch.ones(3).to(d) + 1\n{line}\n", mode="--timed")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"error: .*script.py:\d+: aten::{name} is left to the host, .*leave out")
        done = self.ran("print(torch.ones(3).to(d) + 1)\n", mode="--timed")
        self.assertRegex(done.stderr, r"error: .*script.py:\d+: this value is read, but --timed computes none")

    def test_tensors_are_printed_as_pytorch_does(self):
        self.runs(PRINTED)

    def test_a_tensor_takes_the_memory_of_another(self):
        self.runs(TAKEN)


if __name__ == "__main__":
    unittest.main()
