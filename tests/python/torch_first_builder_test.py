"""The first ModelBuilder, of neuronx_distributed.trace: models that name their states, their programs, weights of each
core in files."""
import unittest

import device_scripts

try:
    import torch
except ImportError:
    torch = None

HEAD = """
import types, torch_neuronx
from neuronx_distributed.trace.model_builder import BaseModelInstance, ModelBuilder
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
class Writer(nn.Module):
    def __init__(self, many=True):
        super().__init__()
        self.words = ParallelEmbedding(16, 8) if many else nn.Embedding(16, 8)
        self.up = ColumnParallelLinear(8, 12, gather_output=False) if many else nn.Linear(8, 12)
        self.down = RowParallelLinear(12, 8, input_is_parallel=True) if many else nn.Linear(12, 8)
        self.cache = nn.Parameter(torch.zeros(2, 6, 8), requires_grad=False)
    def forward(self, tokens, places):
        x = self.words(tokens)
        x = x + self.down(torch.relu(self.up(x)))
        cache = torch.scatter(self.cache, 1, places[:, :, None].expand(-1, -1, 8), x)
        return [x, cache, cache.sum(1)]
class Instance(BaseModelInstance):
    def __init__(self):
        self.module = None
    def load_module(self):
        self.module = Writer()
    def get(self, bucket_rank, **kwargs):
        return self.module, {self.module.cache: 1}
torch.manual_seed(0)
plain = Writer(False)
weights = {name: t for name, t in plain.state_dict().items() if name != "cache"}
def built(**given):
    made = ModelBuilder(router=None, tp_degree=2, checkpoint_loader=lambda: dict(weights), **given)
    for key, count in (("text", 4), ("token", 1)):
        example = torch.zeros(2, count, dtype=torch.int64)
        made.add(key=key, model_instance=Instance(), example_inputs=[(example, example)], compiler_args="-O1")
    return made
"""
STATES = HEAD + """
class Files(types.ModuleType):  # of safetensors, which the tests need not have
    save_file, load_file = staticmethod(torch.save), staticmethod(torch.load)
sys.modules["safetensors"], sys.modules["safetensors.torch"] = Files("safetensors"), Files("safetensors.torch")
def same(model):
    plain.cache.data.zero_()
    for tokens, places in (([[1, 2, 3, 4], [5, 6, 7, 8]], [[0, 1, 2, 3]] * 2), ([[3], [9]], [[4], [2]]),
                           ([[2], [1]], [[5], [0]])):
        tokens, places = torch.tensor(tokens), torch.tensor(places)
        with torch.no_grad():
            want = plain(tokens, places)
        plain.cache.data = want[1]
        got = model(tokens, places)
        assert len(got) == 2, got  # states are no results
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(got, (want[0], want[2]))), (got, want)
same(built(compiler_workdir="work", world_size=2, local_ranks_size=2).trace())
made = built()
model = made.trace(initialize_model_weights=False)
torch.jit.save(model, "model.pt")
made.shard_checkpoint("weights/")
assert sorted(os.listdir("weights")) == [f"tp{i}_sharded_checkpoint.safetensors" for i in range(2)]
loaded = torch.jit.load("model.pt")
loaded.nxd_model.initialize([torch.load(f"weights/tp{i}_sharded_checkpoint.safetensors") for i in range(2)],
                            torch.tensor([0], dtype=torch.int32))
same(loaded)
"""
SIZES = HEAD + """
made = ModelBuilder(None, 2, lambda: {"weight": torch.arange(8.0).view(4, 2), "bias": torch.ones(4)})
made.add("layer", BaseModelInstance(lambda: ColumnParallelLinear(2, 4), {}), [(torch.ones(1, 2),), (torch.ones(3, 2),)])
model = made.trace()
model.nxd_model.initialize_with_saved_weights(start_rank_tensor=torch.tensor([0]))
for rows in (3, 1):
    assert model(torch.ones(rows, 2)).tolist() == [[2, 6, 10, 14]] * rows
assert xm.rt_world_size() == xm.xrt_world_size() == 1
for call, kind, words in (
        (lambda: ModelBuilder(None, 4, dict, start_rank_id=2), NotImplementedError, "start_rank_id=2"),
        (lambda: ModelBuilder(None, 4, dict, cores=2), TypeError, "unexpected keyword argument 'cores'"),
        (lambda: ModelBuilder(None, 2, dict, world_size=4), ValueError, "`local_ranks_size` is None"),
        (lambda: ModelBuilder(None, 2, dict, world_size=4, local_ranks_size=2), NotImplementedError, "leave them out"),
        (lambda: made.add("more", None, [], bucket_config=1), NotImplementedError, "under a key of its own"),
        (lambda: ModelBuilder(None, 2, dict).trace(), ValueError, "call add() before it"),
        (lambda: model(torch.ones(2, 2)), NotImplementedError, "no program was traced for inputs"),
        (lambda: ModelBuilder(None, 1, dict).add("a", BaseModelInstance(lambda: nn.Linear(2, 2), {torch.ones(1): 1}),
                                                 [torch.ones(1, 2)]).trace(), NotImplementedError, "no parameter")):
    refused(call, kind, words)
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class FirstBuilder(device_scripts.Scripts):
    def test_programs_share_states_and_weights_come_from_files(self):
        self.assertRegex(self.runs(STATES).stderr, r"graphs +2 compiled")

    def test_shapes_say_which_program_a_call_takes(self):
        self.runs(SIZES)


if __name__ == "__main__":
    unittest.main()
