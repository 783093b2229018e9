"""neuronx_distributed.trace: models of parallel layers compiled ahead of time for several cores of one process."""
import pathlib
import sys
import tempfile
import unittest

import forked

HEAD = """
import sys, torch, torch.nn as nn
from neuronx_distributed.parallel_layers import layers, mappings, parallel_state
from neuronx_distributed.trace import parallel_model_load, parallel_model_save, parallel_model_trace

class Decoder(nn.Module):
    "One step of attention with the keys and values of earlier ones, whose heads are divided among cores."
    def __init__(self, cores):
        super().__init__()
        column = nn.Linear if not cores else lambda i, o: layers.ColumnParallelLinear(i, o, gather_output=False)
        row = nn.Linear if not cores else lambda i, o: layers.RowParallelLinear(i, o, input_is_parallel=True)
        self.words = layers.ParallelEmbedding(12, 16) if cores else nn.Embedding(12, 16)
        self.q, self.k, self.v, self.o = column(16, 16), column(16, 16), column(16, 16), row(16, 16)
        self.norm, self.heads = nn.BatchNorm1d(16), 4 // (cores or 1)
        self.keys = nn.Parameter(torch.zeros(self.heads, 6, 4), False)
        self.values = nn.Parameter(torch.zeros(self.heads, 6, 4), False)
    def forward(self, token, place):
        x, steps = self.words(token), torch.arange(6, device=token.device)
        q, k, v = (layer(x).view(self.heads, 1, 4) for layer in (self.q, self.k, self.v))
        here = (steps == place)[None, :, None]
        k, v = torch.where(here, k, self.keys), torch.where(here, v, self.values)
        share = (q @ k.transpose(1, 2)).masked_fill(steps > place, -1e9).softmax(-1)
        return self.norm(x + self.o((share @ v).view(1, -1))), k, v

torch.manual_seed(0)
plain = Decoder(0).eval()
weights = {name: t for name, t in plain.state_dict().items() if name not in ("keys", "values")}
def part():
    assert parallel_state.get_tensor_model_parallel_size() == count
    model = Decoder(count).eval()
    return model, {model.keys: 1, model.values: 2}
def traced():
    return parallel_model_trace(part, (torch.tensor([0]), torch.tensor(0)), inline_weights_to_neff=False,
                                tp_degree=count, spmd_mode=True, checkpoint_loader_callable=lambda: weights)
def same(model):
    with torch.no_grad():
        plain.keys.zero_(), plain.values.zero_()
        for i in range(6):
            token, place = torch.tensor([(5 * i) % 12]), torch.tensor(i)
            want, plain.keys.data, plain.values.data = plain(token, place)
            got = model(token, place)
            if got[0].device.type != "cpu":
                continue  # --timed
            if not torch.allclose(got[0], want, atol=1e-5):
                sys.exit(f"step {i}: {got[0]} and {want}")
"""
STEPS = HEAD + """
count = CORES
model = traced()
parallel_model_save(model, "parts")
same(model)
for one in model.models:
    for name, state in one.named_parameters():
        if not name.startswith("weights."):
            state.data.zero_()
same(model)
same(parallel_model_load("parts"))
"""
WITHOUT_SUMS = HEAD + """
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = nn.Parameter(torch.zeros(4), False)
    def forward(self, x):
        return (self.seen + x).sum(), self.seen + x
def part():
    model = Counter()
    return model, {model.seen: 1}
model = parallel_model_trace(part, torch.zeros(4), tp_degree=2)
assert [float(model(torch.ones(4))[0]) for _ in range(3)] == [4, 8, 12]
"""
PADDED = HEAD + """
from neuronx_distributed.parallel_layers.pad import get_number_of_extra_heads, pad_model
class Other(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.bias = torch.arange(4.0)  # no buffer: it stays on the host
        self.inside = nn.ModuleDict({"c": layers.ColumnParallelLinear(2, size, gather_output=False),
                                     "r": layers.RowParallelLinear(size, 4, input_is_parallel=True)})
    def forward(self, x):
        return self.inside.r(self.inside.c(x).relu()) + self.bias
def part(heads, kinds):
    torch.manual_seed(1)
    model = Other(12)
    before, ratios = [t.clone() for t in model.parameters()], []
    assert pad_model(model, 2, heads, kinds, lambda one, ratio: ratios.append((type(one), ratio))) is model
    sizes = [(a.shape, b.shape) for a, b in zip(before, model.parameters())]
    if kinds and kinds[0] is nn.Conv2d:
        assert not ratios
    if heads == 4 or not ratios:
        assert all(torch.equal(a, b) for a, b in zip(before, model.parameters()))
    else:
        assert {tuple(b) for _, b in sizes} == {(8, 2), (8,), (4, 8), (4,)} and {r for _, r in ratios} == {4 / 3}
        assert model.inside.c.weight.partition_dim == 0 and not model.inside.r.weight[:, 6:].any()
        assert len(ratios) == (4 if not kinds else 2)
    return model, {}
x = torch.ones(3, 2)
assert [get_number_of_extra_heads(n, 8) for n in (8, 9, 15)] == [0, 7, 1]
wanted = parallel_model_trace(lambda: part(4, ()), x, tp_degree=2)(x)
for heads, kinds in ((3, ()), (3, [layers.BaseParallelLinear]), (3, (nn.Conv2d,)), (4, (Other,))):
    assert torch.allclose(parallel_model_trace(lambda: part(heads, kinds), x, tp_degree=2)(x), wanted, atol=1e-6)
"""
BY_HAND = HEAD + """
from types import SimpleNamespace
import torch_neuronx
from neuronx_distributed.trace.trace import TensorParallelNeuronModel, _mock_parallel_state, get_sharded_checkpoint, \\
    init_on_device, replace_weights
class Mixed(nn.Module):
    def __init__(self, cores):
        super().__init__()
        self.config, self.size = SimpleNamespace(torch_dtype=torch.float32), 12 // cores
        self.qkv = layers.ColumnParallelLinear(8, 24, gather_output=False)
        self.o = layers.RowParallelLinear(12, 8, input_is_parallel=True)
        self.qkv.weight.fused_qkv, self.qkv.bias.fused_qkv = True, True
        for p in (self.qkv.weight, self.qkv.bias):
            p.num_attention_heads, p.num_key_value_heads, p.head_dim = 4, 2, 3
        self.o.preshard_hook = self.twice
    def twice(self, checkpoint, name):
        assert name == "o.weight"
        checkpoint[name] = checkpoint[name] * 2
    def forward(self, x):
        q, k, v = self.qkv(x).split([self.size, self.size // 2, self.size // 2], -1)
        return self.o(torch.cat([k * v, q[..., :self.size // 2]], -1))
_mock_parallel_state(1, 0)
torch.manual_seed(3)
plain, x = Mixed(1), torch.randn(4, 8)
given = {name: t.clone().to(torch.float64) for name, t in plain.state_dict().items()}
with torch.no_grad():
    q, k, v = plain.qkv(x).split([12, 6, 6], -1)
    # heads of two cores one behind the other, as the parts of each core are
    order = torch.cat([k[..., :3] * v[..., :3], q[..., :3], k[..., 3:] * v[..., 3:], q[..., 6:9]], -1)
    want = nn.functional.linear(order, 2 * plain.o.weight, plain.o.bias)
def part():
    torch.manual_seed(4)
    return Mixed(parallel_state.get_tensor_model_parallel_size()).eval(), None
model = parallel_model_trace(part, x, tp_degree=2, inline_weights_to_neff=False)
assert parallel_state.get_tensor_model_parallel_size() == 1  # as it was before
parallel_model_save(model, "parts")
parts = []
for rank in range(2):
    own = dict(given)
    _mock_parallel_state(2, rank)
    assert parallel_state.get_tensor_model_parallel_rank() == rank
    with init_on_device(torch.device("meta")):
        get_sharded_checkpoint(own, part()[0], rank, 2)
    assert own["qkv.weight"].dtype is torch.float32 and own["qkv.weight"].shape == (12, 8)
    own = {name: t.float() for name, t in own.items()}
    cached = dict(given, **{"o.weight": 2 * given["o.weight"]})
    get_sharded_checkpoint(cached, part()[0], rank, 2, is_cached=True)
    assert torch.equal(cached["o.weight"], own["o.weight"])
    with torch_neuronx.contexts.disable_nrt_load():
        parts.append(torch.jit.load("parts/tp_0.pt"))
    replace_weights(parts[-1], own)
spmd = parallel_model_trace(part, x, tp_degree=2, inline_weights_to_neff=False, spmd_mode=True,
                            checkpoint_loader_callable=lambda: given)
for one in (TensorParallelNeuronModel(parts), spmd):
    if not torch.allclose(one(x), want, atol=1e-5):
        sys.exit(f"{one(x)} and {want}")
assert torch.equal(given["o.weight"], plain.o.weight.double())  # the caller's stays
"""
NUMBERED = HEAD + """
class Numbered(nn.Module):
    def __init__(self, parts=2):
        super().__init__()
        self.number, self.table = layers.SPMDRank(parts), nn.Parameter(torch.zeros(3, 4))
    def forward(self, x):
        return mappings.reduce_from_tensor_model_parallel_region(x * self.table[self.number.get_rank().long()])
def traced(number, parts=2):
    loaded = {"table": torch.arange(12.0).view(3, 4), "number.rank": torch.tensor(number, dtype=torch.int32)}
    return parallel_model_trace(lambda: (Numbered(parts), {}), torch.zeros(4), tp_degree=2, spmd_mode=True,
                                inline_weights_to_neff=False, checkpoint_loader_callable=lambda: loaded)
assert traced([0, 1])(torch.ones(4)).tolist() == [[4, 6, 8, 10]]
assert traced([2, 1])(torch.ones(4)).tolist() == [[12, 14, 16, 18]]
traced([0, 1, 2, 3], 4)
"""
ERRORS = (
    ("traced(bucket_config=1)", "bucket_config must be a torch_neuronx.BucketModelConfig"),
    ("traced(buckets=1)", "unexpected keyword argument 'buckets'"),
    ("traced(spmd_mode=True)", "Spmd mode is not supported when inline_weights_to_neff=True"),
    ("traced(states=[])", "states=...) is not supported"),
    ("traced(own=lambda x: x[:, parallel_state.get_tensor_model_parallel_rank():])", "the model of core 1 has other "
     "operators or other constants"),
    ("import torch_xla.distributed.xla_multiprocessing as xmp; xmp.spawn(lambda rank: traced())", "from one process"),
    ("from neuronx_distributed.trace import ModelBuilder; ModelBuilder(None, 2, dict, pp_degree=2)",
     "ModelBuilder(pp_degree=2) is not supported, only 1"))
WRONG = HEAD + """
class Own(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.forward = own
def traced(own=lambda x: x + 1, **options):
    return parallel_model_trace(lambda: (Own(own), {}), torch.ones(2, 4), tp_degree=2, **options)
"""


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class ParallelTrace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_text(self, text, *settings):
        path = self.root / "script.py"
        path.write_text(text)
        command = [sys.executable, "-B", "-m", "trnsim.torch", *settings, str(path)]
        return forked.run(command, cwd=self.root)

    def passes(self, text, *settings):
        done = self.run_text(text, *settings)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stderr

    def test_steps_of_a_divided_decoder(self):
        for cores in (2, 4):
            told = self.passes(STEPS.replace("CORES", str(cores)), "--numeric")
            self.assertIn(f"simulated device: {cores} cores", told)
            self.assertRegex(told, r"graph0 +\d+ operators +19 runs")  # the first is trace()'s own

    def test_its_time_has_the_sums_between_cores(self):
        told = self.passes(HEAD + "count = 4\nsame(traced())\n", "--timed")
        self.assertRegex(told, r"graph0 +\d+ operators +7 runs")
        self.assertIn("machine                   1 x trn1.32xlarge", told)
        text = next(self.root.glob("runs/*/graph0.mlir")).read_text()
        self.assertIn("mhlo.num_replicas = 4", text)
        self.assertIn("stablehlo.all_reduce", text)

    def test_weights_that_a_checkpoint_lacks(self):
        self.assertNotIn("UserWarning", self.passes(HEAD + "count = 2\ntraced()\n", "--numeric"))
        left_out = "count = 2\ndel weights['q.bias'], weights['norm.running_mean']\ntraced()\n"
        self.assertIn("the checkpoint has no q.bias: they stay", self.passes(HEAD + left_out, "--numeric"))

    def test_parts_that_do_not_talk(self):
        self.passes(WITHOUT_SUMS, "--numeric")

    def test_heads_that_cores_do_not_divide(self):
        self.passes(PADDED, "--numeric")

    def test_weights_divided_by_hand(self):
        self.passes(BY_HAND, "--numeric")

    def test_numbers_of_cores_as_weights(self):
        done = self.run_text(NUMBERED, "--numeric")
        self.assertIn("a weight of 4 parts is not supported on 2 cores", done.stderr)

    def test_errors(self):
        for call, words in ERRORS:
            done = self.run_text(WRONG + call + "\n", "--numeric")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
