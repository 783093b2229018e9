"""neuronx_distributed.ModelBuilder: programs of one model for several sizes of inputs, with weights of each core and
with states that all programs share."""
import pathlib
import sys
import tempfile
import unittest

import forked

HEAD = """
import sys, torch, torch.nn as nn
from neuronx_distributed import ModelBuilder, NxDModel, NxDParallelState, shard_checkpoint
from neuronx_distributed.parallel_layers import parallel_state
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from neuronx_distributed.trace.mock_torchdist import mock_distributed
from neuronx_distributed.utils.model_utils import init_on_device
from torch_neuronx.xla_impl.ops import RmsNorm

class Writer(nn.Module):
    "Attention with the keys of earlier calls: of a whole text, or of one more token of it."
    def __init__(self, cores, over_rows=False):
        super().__init__()
        many = cores > 0
        self.words = ParallelEmbedding(16, 8, shard_across_embedding=not over_rows) if many else nn.Embedding(16, 8)
        self.qk = ColumnParallelLinear(8, 8, gather_output=False) if many else nn.Linear(8, 8)
        self.out = RowParallelLinear(8, 8, input_is_parallel=True) if many else nn.Linear(8, 8)
        self.gain = nn.Parameter(torch.rand(8))
        self.register_buffer("keys", torch.ones(2, 6, 4 // max(cores, 1), 2))
        self.register_buffer("steps", torch.arange(6.0), persistent=False)
    def forward(self, tokens, last):
        x = self.words(tokens)
        if x.is_cpu:
            x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.gain
        else:
            x = RmsNorm.apply(x, self.gain, 1e-5, 2)
        q = self.qk(x).unflatten(2, (-1, 2))
        count = tokens.shape[1]
        place = torch.arange(count, device=q.device)[None].expand(2, -1) if count > 1 else last[:, None]
        self.keys = torch.scatter(self.keys, 1, place[:, :, None, None].expand_as(q).long(), q)
        hidden = self.steps > place[:, None, :, None]
        share = torch.einsum("bqhd,bkhd->bhqk", q, self.keys).masked_fill(hidden, -1e9).softmax(-1)
        return {"text": self.out(torch.einsum("bhqk,bkhd->bqhd", share, self.keys).flatten(2)) + x}

def inputs(length, last=0):
    return dict(tokens=(torch.arange(2 * length) * 5 % 16).view(2, length), last=torch.full((2,), last))
torch.manual_seed(0)
plain = Writer(0)
weights = {name: t for name, t in plain.state_dict().items() if name != "keys"}
def built(cores, over_rows=False):
    model = Writer(cores, over_rows)
    return ModelBuilder(model).trace(kwargs=inputs(6), tag="text").trace(kwargs=inputs(1), tag="token").compile()
def parts(cores, over_rows=False):
    with NxDParallelState(world_size=cores, tensor_model_parallel_size=cores), init_on_device(torch.device("meta")):
        return shard_checkpoint(weights, Writer(cores, over_rows))
"""
STEPS = HEAD + """
def same(model, given):
    model.set_weights(given)
    model.to_neuron()
    plain.keys = torch.zeros(2, 6, 4, 2)  # as states begin
    for length, last in ((1, 0), (6, 0), (1, 2), (1, 3), (6, 0), (1, 5)):
        at = inputs(length, last)
        with torch.no_grad():
            want, got = plain(**at)["text"], model(at["tokens"], last=at["last"])
        assert set(got) == {"text"}
        if got["text"].device.type == "cpu" and not torch.allclose(got["text"], want, atol=1e-5):
            sys.exit(f"{length} {last}: {got} and {want}")
count = CORES
with NxDParallelState(world_size=count, tensor_model_parallel_size=count):
    assert parallel_state.get_tensor_model_parallel_size() == count
    inside = built(count)
    same(inside, shard_checkpoint(weights, Writer(count)))
inside.save("model.pt")
same(NxDModel.load("model.pt"), parts(count))
inside.save("whole.pt", save_weights=True)
loaded = NxDModel.load("whole.pt")
assert torch.allclose(loaded(**inputs(6))["text"], inside(**inputs(6))["text"])
with mock_distributed(world_size=count):
    torch.distributed.init_process_group(backend="xla", rank=0, world_size=count)
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=count, skip_collective_init=True)
    parallel_state.set_aot_mode(True)
    rows = built(count, True)  # each core finds its rows by its number
    parallel_state.set_aot_mode(False)
same(rows, parts(count, True))
for rank in range(count):
    keys = rows.read_from_neuron_buffer("keys", rank)
    assert torch.allclose(keys, plain.keys.chunk(count, 2)[rank], atol=1e-5)
    assert keys.shape == rows.states[rank]["keys"].shape
rows.write_to_neuron_buffer(torch.zeros(2, 6, 4 // count, 2), "keys", 0)
assert not rows.states[0]["keys"].cpu().any() and "qk.weight" in rows.weights[0]
weights = {name: t * 2 for name, t in weights.items()}
plain.load_state_dict(weights, strict=False)
rows.replace_weights(parts(count, True))
plain.keys = torch.zeros(2, 6, 4, 2)
assert torch.allclose(rows(**inputs(6))["text"], plain(**inputs(6))["text"], atol=1e-4)
"""
UNITS = HEAD + """
from neuronx_distributed.trace.model_builder import ModelBuilderV2, compile, trace
from neuronx_distributed.trace.nxd_model.base_nxd_model import StateInitializer
def both(a, b):
    return a + b, b
found = trace(both, args=torch.zeros(2), kwargs={"b": torch.zeros(2)})
model = NxDModel(world_size=1).add("both", found, compile(found.hlo, found.metaneff, compiler_args="-O1"))
model.to_neuron()
assert [t.tolist() for t in model(torch.ones(2), torch.arange(2.0))] == [[1, 2], [0, 1]]
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.tensor([7.0]))
    def forward(self, x):
        self.seen = self.seen + x
        return x * self.seen
model = ModelBuilderV2(Counter()).trace(torch.zeros(1)).compile()
model.set_weights([{"seen": torch.tensor([3])}])
model.to_neuron()
assert [model(torch.tensor([2.0])).item() for _ in range(3)] == [4, 8, 12]
found = trace(Counter(), torch.zeros(1))
model = NxDModel(1, state_initializer=lambda: [{"seen": torch.tensor([5.0])}])
model.add("one", found, compile(found.hlo, found.metaneff)).to_neuron()
assert model(torch.ones(1)).item() == 6
zeros = StateInitializer({"seen": [1]}, {"seen": torch.float32}, 2)()
assert [own["seen"].tolist() for own in zeros] == [[0], [0]]
"""
WRONG = HEAD + """
import torch_xla.distributed.xla_multiprocessing as xmp
class Inside(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))
    def forward(self, x):
        self.seen.add_(x)
        return x
def add(a, b=None): return a
def model(cores=1, ready=True):
    with NxDParallelState(world_size=cores, tensor_model_parallel_size=cores):
        made = built(cores)
    if ready:
        made.set_weights(parts(cores))
        made.to_neuron()
    return made
"""
ERRORS = (
    ("model()(**inputs(5))", "no program was traced for inputs of {'tokens': (2, 5), 'last': (2,)}, only text: "),
    ("model(ready=False)(**inputs(6))", "Model not initialized. Call set_weights()"),
    ("model().set_weights([])", "already loaded on neuron"),
    ("model(2, False).set_weights(parts(2)[:1])", "there are 2 cores, and weights of 1"),
    ("model(2, False).set_weights(parts(1) * 2)", "out.weight of core 0 is (8, 8)"),
    ("model(1, False).set_weights([{}])", "the weights of core 0 lack gain"),
    ("model()(**inputs(6), forward_mode='ranked')", "forward_mode='ranked') is not supported"),
    ("model()(1, 2, 3)", "takes the inputs tokens, last, and got 3 by place"),
    ("ModelBuilder(Inside()).trace(torch.ones(2))", "forward() writes to the buffer seen in place"),
    ("ModelBuilder(lambda *x: x).trace(torch.ones(2))", "no *args or **kwargs"),
    ("ModelBuilder(add).trace(torch.ones(2), {'b': 1})", "the example of b is a int: give a tensor"),
    ("ModelBuilder(add).compile()", "call trace() before it"),
    ("ModelBuilder(add).trace(torch.ones(2), tag='a').trace(torch.ones(3), tag='a')", "a trace with the tag 'a'"),
    ("xmp.spawn(lambda rank: ModelBuilder(add).trace(torch.ones(2)))", "call it from one process"),
    ("NxDParallelState(world_size=4, tensor_model_parallel_size=3).__enter__()", "does not divide 4 cores"))


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Builder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_text(self, text, *settings):
        path = self.root / "script.py"
        path.write_text(text)
        return forked.run([sys.executable, "-B", "-m", "trnsim.torch", *settings, str(path)], cwd=self.root)

    def passes(self, text, *settings):
        done = self.run_text(text, *settings)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-3000:])
        return done.stderr

    def test_texts_and_tokens_share_states(self):
        for cores in (1, 2, 4):
            told = self.passes(STEPS.replace("CORES", str(cores)), "--numeric")
            self.assertIn(f"simulated device: {cores} core", told)

    def test_parts_of_a_builder(self):
        self.passes(UNITS, "--numeric")

    def test_its_time_has_the_sums_between_cores(self):
        text = HEAD + """
with NxDParallelState(world_size=4, tensor_model_parallel_size=4):
    model = built(4)
model.set_weights(parts(4))
model.to_neuron()
for _ in range(3):
    model(**inputs(1))
"""
        told = self.passes(text, "--timed")
        self.assertRegex(told, r"graph0 +\d+ operators +3 runs")
        self.assertIn("mhlo.num_replicas = 4", next(self.root.glob("runs/*/graph0.mlir")).read_text())

    def test_errors(self):
        for call, words in ERRORS:
            done = self.run_text(WRONG + call + "\n", "--numeric")
            self.assertEqual(done.returncode, 1, call + done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
