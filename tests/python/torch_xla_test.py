"""Names of torch_xla: each does what torch_xla documents."""
import unittest

import device_scripts

try:
    import torch
except ImportError:
    torch = None

UTILS = """
x = torch.ones(3, device=d)
said = []
assert xu.timed(lambda: x + 1, msg="add: ", printfn=said.append).tolist() == [2, 2, 2]
with xu.TimedScope("scope ", said.append): pass
with xu.TimedScope("none", said.append) as scope: scope.set_error("wrong")
assert len(said) == 2 and said[0].startswith("add: ") and said[1].startswith("scope 0") and said[1].endswith("ms"), said
xu.timed(lambda: None, "on stderr ")
assert xu.as_list(3) == [3] and xu.as_list((1, 2)) == (1, 2)
data = xu.FnDataGenerator(lambda t: t * 2, 4, torch.ones, dims=[5], count=2)
assert len(data) == 2 and [(a.shape, b.sum().item()) for a, b in data] == [((4, 5), 40)] * 2 == [
    (a.shape, b.sum().item()) for a, b in data]
samples = xu.SampleGenerator((1, 2), 3)
assert list(samples) == [(1, 2)] * 3 == list(samples) and samples.next() == (1, 2)
class Has:
    def __init__(self): self.a, self.b, self.me = {"k": [1, 2], 4.9: "y"}, ("f", 17), self
found = []
xu.for_each_instance(Has(), lambda v: isinstance(v, (int, float)), found.append)
assert sorted(found) == [1, 2, 4.9, 17], found
assert xu.shape([[1, 2], [3, 4], [5, 6]]) == [3, 2] and xu.flatten_nested_tuple([1, (2, [3])]) == (1, 2, 3)
os.environ["SWITCH"] = "0"
assert xu.getenv_as("SWITCH", bool) is False and xu.getenv_as("NOT_THERE", int, 7) == 7
a, b = torch.zeros(4, device=d), torch.zeros(4)
xm.check_view_sharing({"a": a, "b": [b, a]})
refused(lambda: xm.check_view_sharing([a, a[:2]]), RuntimeError, "is sharing a view with")
refused(lambda: xm.check_view_sharing([b, b.view(2, 2)]), RuntimeError, "is sharing a view with")
"""
STEPS = """
m = nn.Linear(8, 8).to(d); o = torch.optim.SGD(m.parameters(), .1); x = torch.ones(4, 8).to(d)
xm.mark_step()
for i in range(3):
    met.clear_all()
    with xp.StepTrace("train", step_num=i):
        with xp.Trace("inside"):
            o.zero_grad(); l = m(x).pow(2).mean(); l.backward(); o.step()
        assert not met.counter_value("MarkStep") and met.metric_data("ExecuteTime") is None
    assert met.counter_value("MarkStep") == 1 and met.metric_data("ExecuteTime")[0] == 1
    assert (met.counter_value("CachedCompile") == 1) == (i == 2), met.counter_names()
"""
SENT = """
t = torch.ones(2, 2, requires_grad=True)
out = xm.send_cpu_data_to_device([t], device=d)
assert out[0].requires_grad and out[0].is_leaf and out[0].device == d
(out[0] * 3).sum().backward()
assert t.grad is None and out[0].grad.sum().item() == 12
one = xm.send_cpu_data_to_device(torch.ones(2), d)
assert type(one) is list and one[0].device == d and not one[0].requires_grad
out = xm.send_cpu_data_to_device({"a": t, "b": [3, t]}, d, input_sharding=None)
assert out["a"].requires_grad and out["b"][0] == 3
refused(lambda: xm.send_cpu_data_to_device([t], "cpu"), RuntimeError, "give xm.xla_device()")
"""
LOADERS = """
data = torch.utils.data.DataLoader(torch.arange(8.0), batch_size=2)
one = pl.ParallelLoader(data, [d]).per_device_loader(d)
assert next(one).tolist() == [0, 1] and one.next().tolist() == [2, 3] and len(one) == 4
assert [b.tolist() for b in one] == [[4, 5], [6, 7]] and list(one) == []  # an iterator: one pass
both = pl.MpDeviceLoader(data, d)
it = iter(both)
assert next(it).device == d and len(both) == 4 and both.batch_size == 2
for _ in range(2):
    before = met.counter_value("MarkStep") or 0
    assert len([b for b in both]) == 4
    assert met.counter_value("MarkStep") == before + 5
before = met.counter_value("MarkStep")
for b in pl.MpDeviceLoader(data, d, batches_per_execution=3): pass
assert met.counter_value("MarkStep") == before + 3
"""
COUNTED = """
x = torch.randn(3).to(d)
(x + 1).cpu()
for name in ("CompileTime", "ExecuteTime", "TransferToServerTime", "TransferFromServerTime", "OutboundData"):
    count, total, samples = met.metric_data(name)
    assert count == len(samples) >= 1 and abs(sum(v for _, v in samples) - total) < 1e-3 * total, name
    assert name in met.metric_names()
assert met.metric_data("InboundData")[1] == 12 and met.metric_data("TransferToDeviceTime")[0] >= 1
report = met.metrics_report()
assert "Metric: CompileTime\\n  TotalSamples: 1\\n  Accumulator: " in report and "Counter: UncachedCompile" in report
x.nonzero()
assert met.executed_fallback_ops() == ["aten::nonzero"] and met.counter_value("aten::nonzero") == 1
short = met.short_metrics_report()
assert "UncachedCompile" not in short and "ExecuteTime" in short and "OutboundData" not in short, short
met.clear_all()
assert met.metric_names() == met.counter_names() == met.executed_fallback_ops() == []
assert met.metric_data("CompileTime") is met.counter_value("UncachedCompile") is met.metric_data("NoSuch") is None
(x + 1).cpu()
assert met.metric_data("CompileTime") is None and met.metric_data("ExecuteTime")[0] == 1
assert met.counter_value("CachedCompile") == 1
met.clear_metrics()
assert met.counter_value("CachedCompile") == 1 and met.metric_data("ExecuteTime") is None
"""
GRADIENTS = """
def f(rank):
    d, size = xm.xla_device(), xm.xrt_world_size()
    def leaf(*numbers): return torch.tensor(numbers, device=d, requires_grad=True)
    factor = torch.tensor([1.0, 10.0], device=d)
    a = leaf(rank + 1.0, 2.0)
    (xf.all_reduce(xm.REDUCE_SUM, a, scale=0.5) * factor).sum().backward()
    assert a.grad.tolist() == [0.5, 5.0], a.grad
    a = leaf(rank + 1.0, 2.0)
    (xf.all_reduce(xm.REDUCE_MAX, a) * factor).sum().backward()
    assert a.grad.tolist() == [float(rank == size - 1), 10.0], a.grad
    a = leaf(rank + 1.0, 0.0)
    (xf.all_reduce(xm.REDUCE_MUL, a) * factor).sum().backward()
    assert a.grad.tolist() == [2.0 / (rank + 1), 0.0], a.grad
    b = leaf(rank + 1.0, 2.0)
    (xf.all_gather(b) * torch.arange(2.0 * size, device=d)).sum().backward()
    assert b.grad.tolist() == [2.0 * rank, 2.0 * rank + 1], b.grad
    c = torch.ones(3, 2, device=d, requires_grad=True)
    (xf.all_gather(c, dim=-1) * torch.arange(2.0 * size, device=d)).sum().backward()
    assert c.grad[2].tolist() == [2.0 * rank, 2.0 * rank + 1], c.grad
    w, x = torch.arange(8.0).view(2, 4) + 1, torch.arange(12.0).view(4, 3)
    mine = w.chunk(size, 1)[rank].to(d)
    assert torch.equal(xf.distributed_mm(mine, x.to(d), split=3).cpu(), w @ x)
    print("done", flush=True)
xmp.spawn(f, nprocs=2)
"""
NORM = """
def f(rank):
    d, size = xm.xla_device(), xm.xrt_world_size()
    for shape in ((6, 3), (6, 3, 4), (6, 3, 2, 2)):
        torch.manual_seed(1)
        whole, factor = torch.rand(shape), torch.rand(shape)
        kinds = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}
        plain, norm = kinds[len(shape)](3), xf.SyncBatchNorm(3).to(d)
        own = whole.chunk(size)[rank].to(d).requires_grad_()
        whole.requires_grad_()
        (plain(whole) * factor).sum().backward()
        (norm(own) * factor.chunk(size)[rank].to(d)).sum().backward()
        assert torch.allclose(own.grad.cpu(), whole.grad.chunk(size)[rank], atol=1e-4), (own.grad, whole.grad)
        assert torch.allclose(norm.running_mean.cpu(), plain.running_mean, atol=1e-5)
        count = whole.numel() / 3
        biased = (plain.running_var - 0.9) * (count - 1) / count + 0.9
        assert torch.allclose(norm.running_var.cpu(), biased, atol=1e-5), (norm.running_var, biased)
        plain.running_var = norm.running_var.cpu()
        assert torch.allclose(norm.eval()(own).cpu(), plain.eval()(whole).chunk(size)[rank], atol=1e-5)
    print("done", flush=True)
xmp.spawn(f, nprocs=2)
"""
CLOSE = """
import torch_neuronx, torch_neuronx.testing
from torch_neuronx.testing.validation import assert_close, custom_allclose, neuron_allclose
want = torch.tensor([[100., 0.001], [0., -7.]])
got = want + torch.tensor([[0., 0.5], [0., -0.9]])
found = neuron_allclose(got.to(d), want, rtol=0.01, atol=1e-5)  # 1 % of 100, for each number
assert found.allclose and found.num_mismatches == 0 and abs(found.max_abs_error - 0.9) < 1e-4, found
assert abs(found.max_rel_error - 0.009) < 1e-6 and found.max_abs_error_index == (1, 1), found
found = neuron_allclose(got, want, rtol=0.006)
assert not found.allclose and found.num_mismatches == 1
passed, most = custom_allclose(want, got, atol=0, rtol=0.01)
assert passed and abs(most - 0.9) < 1e-4
torch_neuronx.testing.assert_close({"a": [got]}, {"a": [want]}, rtol=0.01, atol=0)
nan = torch.tensor([float("nan"), 1.])
assert neuron_allclose(nan, nan).allclose and not neuron_allclose(nan, torch.ones(2)).allclose
refused(lambda: assert_close(got, want), AssertionError, "num_mismatches=2")
refused(lambda: assert_close(got, want.double(), rtol=1), AssertionError, "different dtypes")
refused(lambda: assert_close(got[0], want), AssertionError, "different shapes")
"""
BUCKETS = """
def f(rank):
    d, size = xm.xla_device(), xm.xrt_world_size()
    given = [torch.arange(4.0).view(2, 2) + 10 * rank, torch.ones(4, dtype=torch.bfloat16) * (rank + 1),
             torch.full((600_000,), rank + 1.0), torch.arange(6.0).view(2, 3)]
    here = [t.to(d) for t in given]
    for most in (0, 1, 160):
        for a, b in zip(xm.all_gather_bucketized(here, bucket_cap_mb=most), here):
            assert torch.equal(a, xm.all_gather(b)) and a.dtype == b.dtype
        for a, b in zip(xm.reduce_scatter_bucketized("sum", here, 0.5, 0, size, bucket_cap_mb=most), here):
            assert torch.equal(a, xm.reduce_scatter("sum", b, 0.5, 0, size)), (a, b)
        sums = [t.clone() for t in here]
        xm.all_reduce_bucketized_gradients(reversed(sums), 0.5, None, True, bucket_cap_mb=most)
        assert all(torch.equal(a, xm.all_reduce("sum", b) * 0.5) for a, b in zip(sums, here))
    wide = xm.all_gather([here[0], here[3]], dim=1, pin_layout=False)
    assert [t.shape for t in wide] == [(2, 4), (2, 6)] and torch.equal(wide[1], xm.all_gather(here[3], 1))
    out = [torch.zeros(1, 2, device=d)]
    assert xm.reduce_scatter_bucketized("sum", here[:1], 1.0, 0, size, output=out) is out
    assert out[0].tolist() == [[10.0 + 4 * rank, 12.0 + 4 * rank]], out
    refused(lambda: xm.all_gather_bucketized(here, pin_layout=True), RuntimeError, "pin_layout")
    refused(lambda: xm.all_gather_bucketized(here[0]), TypeError, "list of tensors")
    refused(lambda: xm.reduce_scatter_bucketized("sum", here, 1.0, 0, size, output=out), ValueError, "1 outputs")
    p = nn.Parameter(torch.ones(3, device=d)); p.grad = torch.ones(3, device=d) * (rank + 1)
    os.environ["ALLREDUCE_GRADIENTS_BUCKET_SIZE_MB"] = "1"
    xm.reduce_gradients(torch.optim.SGD([p], 0.1))
    assert p.grad.tolist() == [1.5] * 3
    print("done", flush=True)
xmp.spawn(f, nprocs=2)
"""
BOXES = """
boxes = torch.tensor([[0.0, 0, 3, 2], [3, 3, 11, 7], [2, 2, 5, 7], [7, 4, 15, 12]])
scores = torch.tensor([0.9, 0.5, 0.95, 0.4])
least, most = torch.tensor(0.05, device=d), torch.tensor(0.05, device=d)
places, count = xf.nms(boxes.to(d), scores.to(d) * 1.0, least, most, 4)
assert (places.tolist(), count.item()) == ([2, 0, 3, 0], 3), (places, count)
places, count = xf.nms(boxes.to(d), scores.to(d), torch.tensor(0.45, device=d), torch.tensor(0.99, device=d), 2)
assert (places.tolist(), count.item()) == ([2, 0], 2), (places, count)
"""
ACCUMULATED = """
from torch_xla.experimental.gradient_accumulation import gradient_accumulation
m = nn.Linear(3, 2).to(d); x = torch.randn(5, 4, 3).to(d)
def step(a, other): return m(a).pow(2).mean(), other + 10
loss, other = gradient_accumulation(step, (x,), m, (torch.tensor(10).to(d),))
assert other.item() == 60 and abs(loss.item() - sum(m(a).pow(2).mean().item() for a in x) / 5) < 1e-5
ours, m.weight.grad = m.weight.grad, None
sum(m(a).pow(2).mean() / 5 for a in x).backward()
assert (ours - m.weight.grad).abs().max().item() < 1e-5
grown = torch.ones(2, device=d)  # a carried tensor that is made of weights: each step is differentiated by itself
loss, grown, count = gradient_accumulation(lambda a, c, n: (m(a).sum() + c.sum(), c * m.weight.sum(), n + 1), (x,), m,
                                           (grown, torch.tensor(0).to(d)))
assert count.item() == 5
loss, = gradient_accumulation(lambda a: m(a).sum(), [x], m)
refused(lambda: gradient_accumulation(step, (), m), ValueError, "cannot be empty")
refused(lambda: gradient_accumulation(step, (x, x[:3]), m), ValueError, "first axes of [5, 3]")
refused(lambda: gradient_accumulation(lambda a, n: (m(a).sum(),), (x,), m, (loss,)), ValueError, "0 tensors beside")
"""


SCALES = """
g, h, f = torch.tensor([1.0, 2.0]).to(d), torch.tensor([[4.0]]).to(d), torch.tensor(0.0).to(d)
torch._amp_foreach_non_finite_check_and_unscale_([g, h], f, torch.tensor(0.5).to(d))
assert (g.tolist(), h.tolist(), f.item()) == ([0.5, 1.0], [[2.0]], 0.0)
h = torch.tensor([[float("inf")]]).to(d)
torch._amp_foreach_non_finite_check_and_unscale_([g, h], f, torch.tensor(2.0).to(d))
assert (g.tolist(), f.item()) == ([1.0, 2.0], 1.0)
def updated(scale, steps, found):
    scale, steps = torch.tensor(scale).to(d), torch.tensor(steps, dtype=torch.int32).to(d)
    torch._amp_update_scale_(scale, steps, torch.tensor(found).to(d), 2.0, 0.5, 3)
    return scale.item(), steps.item()
assert updated(8.0, 0, 0.0) == (8.0, 1) and updated(8.0, 2, 0.0) == (16.0, 0) and updated(8.0, 2, 1.0) == (4.0, 0)
import torch_xla.amp.syncfree as syncfree
def trained(kind, base, skipped, **given):
    torch.manual_seed(0)
    p = nn.Parameter(torch.randn(3, 2).to(d) if kind is not base else torch.randn(3, 2))
    o = kind([p], lr=0.1, **given)
    assert isinstance(o, base)
    for i in range(5):
        p.grad = torch.full((3, 2), float(i + 1), device=p.device)
        if kind is base:
            if i not in skipped: o.step()
        else:
            p.grad[0, 0] = float("nan") if i in skipped else p.grad[0, 0]
            o.step(found_inf=torch.tensor(float(i in skipped), device=d))
    return p.detach().cpu()
for base, given in ((torch.optim.SGD, {}), (torch.optim.SGD, dict(momentum=0.9, weight_decay=0.1, nesterov=True)),
                    (torch.optim.SGD, dict(momentum=0.9, dampening=0.2, maximize=True)), (torch.optim.Adam, {}),
                    (torch.optim.Adam, dict(weight_decay=0.1, amsgrad=True)), (torch.optim.AdamW, dict(maximize=True))):
    for skipped in ((), (0, 3), (2,)):
        a, b = (trained(kind, base, skipped, **given) for kind in (getattr(syncfree, base.__name__), base))
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5), (base, given, skipped, a, b)
p = nn.Parameter(torch.ones(2).to(d)); p.grad = torch.ones(2).to(d)
syncfree.SGD([p], lr=0.5).step()
assert p.tolist() == [0.5, 0.5]
refused(lambda: syncfree.SGD([p], lr=0.5).step(found_inf=torch.zeros(2).to(d)), ValueError, "has to be scalar")
"""
PARTS = """
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
p = nn.Parameter(torch.ones(4, 4, device=d)); p.grad = torch.ones_like(p)
o = ZeroRedundancyOptimizer([p], torch.optim.SGD, lr=.1, pin_layout=False)
asked = []
def parts(): return [q for group in o.base_optimizer.param_groups for q in group["params"]]
plain, o.base_optimizer.zero_grad = o.base_optimizer.zero_grad, lambda set_to_none: asked.append(set_to_none)
o.step()
assert asked == [True] and parts()[0].grad.shape == (4, 4)
o.base_optimizer.zero_grad = plain
o.step()
assert parts()[0].grad is None and p.grad is not None
"""
NAMES = """
import torch_xla.version, torch_xla.core.xla_env_vars as xenv, torch_xla.experimental.pjrt_backend
import torch_xla.distributed.data_parallel as dp, torch.distributed as dist
from torch_xla.version import __version__ as version
from torch_xla.amp.syncfree import Adam, AdamW, SGD, adam, adamw, sgd
from torch_xla.utils.checkpoint import checkpoint
assert (adam.Adam, adamw.AdamW, sgd.SGD) == (Adam, AdamW, SGD) and callable(torch.utils.checkpoint.checkpoint)
assert version == torch_xla.__version__ and xenv.PJRT_DEVICE == "PJRT_DEVICE"
dist.init_process_group("xla", init_method="pjrt://")
from neuronx_distributed.utils import cpu_mode, mark_step
before = met.counter_value("MarkStep") or 0
mark_step()
assert not cpu_mode() and met.counter_value("MarkStep") == before + 1
os.environ["NXD_CPU_MODE"] = "1"
mark_step()
assert cpu_mode() and met.counter_value("MarkStep") == before + 1
data = torch.utils.data.DataLoader(torch.arange(8.0).view(8, 1), batch_size=2)
net = nn.Linear(1, 1)
many = dp.DataParallel(net, device_ids=xm.get_xla_supported_devices())
assert len(many.devices) == len(many.models) == 1 and many.models[0].weight.device == d != net.weight.device
def loop(model, loader, device, context):
    o = context.getattr_or("optimizer", lambda: torch.optim.SGD(model.parameters(), lr=0.1))
    for x in loader:
        assert x.device == device == d
        o.zero_grad(); model(x).sum().backward(); xm.optimizer_step(o)
    return o
first = many(loop, data)
assert first == many(loop, data) and len(first) == 1
assert dp.DataParallel(net, device_ids=[])(lambda m, l, p, c: sum(x.sum().item() for x in l), data) == [28.0]
refused(lambda: dp.DataParallel(net, device_ids=["xla:0", "xla:1"]), RuntimeError, "start one for each by")
"""

SHOWN = """
x = torch.ones(4, 3).to(d)
y = x.T @ x
z = y.exp().sum()
first, whole = xm.get_stablehlo([y]), xm.get_stablehlo()
assert "stablehlo.dot_general" in first and "exponential" not in first and "stablehlo.exponential" in whole
assert xm.get_stablehlo([y, y]) == first and xm.get_stablehlo([x]) == ""  # which has its values
assert met.metric_data("ExecuteTime") is None and z.item() > 0 and xm.get_stablehlo() == ""
refused(lambda: xm.get_stablehlo(y), TypeError, "takes a list of tensors")
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class TorchXla(device_scripts.Scripts):
    def test_graphs_are_shown_as_text(self):
        self.assertRegex(self.runs(SHOWN).stderr, r"graphs +1 compiled")

    def test_utils_utils(self):
        self.assertRegex(self.runs(UTILS).stderr, r"on stderr \d+\.\d{3}ms\n")

    def test_a_step_trace_ends_its_step(self):
        self.assertRegex(self.runs(STEPS).stderr, r"cut by +3 x mark_step\n")

    def test_data_that_are_sent_keep_their_gradients(self):
        self.runs(SENT)

    def test_loaders_are_iterators(self):
        self.runs(LOADERS)

    def test_metrics_are_cleared_and_told(self):
        self.runs(COUNTED)

    def test_gradients_of_collectives_are_those_of_this_core(self):
        self.assertEqual(self.runs(GRADIENTS).stdout, "done\n" * 2)

    def test_norms_of_the_batches_of_all_cores(self):
        self.assertEqual(self.runs(NORM).stdout, "done\n" * 2)

    def test_comparisons_of_torch_neuronx(self):
        self.runs(CLOSE)

    def test_collectives_in_buckets(self):
        self.assertEqual(self.runs(BUCKETS).stdout, "done\n" * 2)

    def test_boxes_that_do_not_overlap(self):
        self.assertRegex(self.runs(BOXES).stderr, "left to the host +xla::nms x 2")

    def test_gradients_are_accumulated_with_carried_tensors(self):
        self.runs(ACCUMULATED)

    def test_scales_and_steps_that_are_left_out(self):
        self.runs(SCALES)

    def test_zero_drops_gradients_as_its_optimizer_does(self):
        self.runs(PARTS)

    def test_names_that_scripts_import(self):
        self.runs(NAMES)


if __name__ == "__main__":
    unittest.main()
