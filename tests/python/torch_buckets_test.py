"""torch_neuronx.bucket_model_trace: models traced for several sizes of inputs, among which a function chooses. Models
of recurrent layers."""
import device_scripts
import unittest

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

HEAD = """
import torch_neuronx
from typing import List
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear
from neuronx_distributed.trace import parallel_model_load, parallel_model_save, parallel_model_trace
class Mean(nn.Module):
    def __init__(self, last=nn.Linear):
        super().__init__()
        self.words, self.last = nn.Embedding(20, 8), last(8, 4)
    def forward(self, tokens, mask):
        return self.last((self.words(tokens) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)), mask.sum()
def padded(inputs: List[torch.Tensor]):
    found: List[torch.Tensor] = []
    chosen = 0
    for number, size in enumerate([8, 16]):
        if inputs[0].shape[1] <= size:
            chosen = number
            for tensor in inputs:
                missing: List[int] = [tensor.shape[0], size - tensor.shape[1]]
                found.append(torch.cat([tensor, torch.zeros(missing, dtype=tensor.dtype)], 1))
            break
    return found, torch.tensor([chosen])
torch.manual_seed(0)
plain = Mean()
examples = [(torch.ones(2, n, dtype=torch.long), torch.ones(2, n, dtype=torch.long)) for n in (8, 16)]
def made(kind=nn.Linear):
    model = Mean(kind)
    model.load_state_dict(plain.state_dict()) if kind is nn.Linear else torch.nn.init.zeros_(model.words.weight)
    return model, {}
def parallel():
    torch.manual_seed(0)
    return Mean(ColumnParallelLinear), {}
config = torch_neuronx.BucketModelConfig(lambda: torch.jit.script(padded))
"""
BUCKETS = HEAD + """
def same(model):
    for n in (3, 8, 9, 16):
        tokens, mask = torch.randint(0, 20, (2, n)), torch.ones(2, n, dtype=torch.long)
        want, got = plain(tokens, mask), model(tokens, mask)
        assert torch.allclose(got[0], want[0], atol=1e-5) and got[1] == want[1], (n, got, want)
model = torch_neuronx.bucket_model_trace(made, examples, config, compiler_args="-O1")
same(model)
torch.jit.save(model, "model.pt")
same(torch.jit.load("model.pt"))
both = parallel_model_trace(parallel, examples, bucket_config=config, tp_degree=2)
same(both)
parallel_model_save(both, "cores")
assert sorted(os.listdir("cores")) == ["tp_0.pt", "tp_1.pt"]
same(parallel_model_load("cores"))
of_kinds = torch_neuronx.BucketModelConfig(lambda: padded, func_kwargs=[dict(kind=nn.Linear), dict(kind=nn.Bilinear)])
refused(lambda: torch_neuronx.bucket_model_trace(made, examples, of_kinds), TypeError, "Bilinear")
by_python = torch_neuronx.bucket_model_trace(made, examples, torch_neuronx.BucketModelConfig(
    lambda: padded, func_kwargs=[{}, dict(kind=nn.Linear)]))
same(by_python)
"""
RECURRENT = """
import torch_neuronx
class Reader(nn.Module):
    def __init__(self, kind, **given):
        super().__init__()
        self.words, self.layer = nn.Embedding(9, 4), kind(4, 5, **given)
        self.held = [self.words.weight]  # as layers have their weights in a list
    def forward(self, tokens):
        out, last = self.layer(self.words(tokens) + self.held[0][0])
        return out @ out.transpose(1, 2), last
tokens, others = torch.randint(0, 9, (3, 6)), torch.randint(0, 9, (3, 6))
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    for given in (dict(num_layers=2, bidirectional=True), dict(batch_first=True, bias=False)):
        model, more = Reader(kind, **given).eval(), Reader(kind, **given).eval()
        first = torch_neuronx.trace(model, tokens)
        second = torch_neuronx.trace(model, tokens, inline_weights_to_neff=False)
        assert model.layer._flat_weights[0] is model.layer.weight_ih_l0 and model.held[0] is model.words.weight
        for traced in (first, second):
            assert torch.allclose(traced(others)[0], model(others)[0], atol=1e-5), (kind, given)
        torch_neuronx.replace_weights(second, more)
        assert torch.allclose(second(others)[0], more(others)[0], atol=1e-5), (kind, given)
"""
ERRORS = (
    ("bucket_model_trace(made, examples, 1)", "bucket_config must be a torch_neuronx.BucketModelConfig"),
    ("bucket_model_trace(plain, examples, config)", "func must be a function that returns a model and its states"),
    ("bucket_model_trace(made, examples[0], config)", "a list with the inputs of each bucket"),
    ("bucket_model_trace(made, examples, torch_neuronx.BucketModelConfig(padded, func_kwargs=[{}]))",
     "arguments for 1 buckets, and there are inputs of 2"),
    ("BucketModelConfig(padded, shared_state_buffer=[])", "states that buckets share are not supported"),
    ("bucket_model_trace(made, examples[:1], config)(*examples[1])", "chose bucket 1, and there are 1"),
    ("bucket_model_trace(made, examples, torch_neuronx.BucketModelConfig(lambda: padded)).save('x')",
     "make it with torch.jit.script()"))


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Buckets(device_scripts.Scripts):
    def test_inputs_of_any_size_are_padded_to_a_bucket(self):
        self.assertRegex(self.runs(BUCKETS).stderr, r"graphs +4 compiled")

    def test_layers_that_hold_their_weights_in_lists_are_traced(self):
        self.runs(RECURRENT)

    def test_errors(self):
        for call, words in ERRORS:
            done = self.ran(HEAD + f"torch_neuronx.{call}\n")
            self.assertEqual(done.returncode, 1, call + done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
