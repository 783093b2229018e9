"""torch_neuronx.analyze(), and models of which the host computes some operators (PartitionerConfig)."""
import unittest

import device_scripts

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

HEAD = """
import torch_neuronx, torch.nn.functional as F
from torch_neuronx import PartitionerConfig
class Mlp(nn.Module):
    def __init__(self, middle=False):
        super().__init__()
        self.one, self.two, self.norm, self.middle = nn.Linear(12, 8), nn.Linear(8, 6), nn.BatchNorm1d(8), middle
    def forward(self, x):
        x = self.norm(self.one(x)).relu()
        if self.middle:
            x = x[:, torch.nonzero(x[0] > -1).flatten()]
        x = torch.log_softmax(self.two(x), 1)
        parts = x.chunk(2, 1)
        return {"out": torch.cat([parts[1], parts[0]], 1)}["out"], x.argmax(1)
torch.manual_seed(0)
x = torch.rand(4, 12)
whole, divided = Mlp().eval(), Mlp(True).eval()
def same(model, plain):
    for given in (x, x + 1):
        for a, b in zip(model(given), plain(given)):
            assert a.dtype is b.dtype and torch.allclose(a, b, atol=1e-5), (a, b)
"""
ANALYZED = HEAD + """
import json, torchvision
found = json.loads(json.dumps(torch_neuronx.analyze(whole, x)))
assert found["support_percentage"] == "100.00%" and found["unsupported_operators"] == []
assert found["supported_operators"]["aten::linear"] == 2 and found["supported_operators"]["aten::relu"] == 1
found = torch_neuronx.analyze(divided, (x,))
one, = found["unsupported_operators"]
assert one["kind"] == "aten::nonzero" and "script.py(" in one["call"]
assert 90 < float(found["support_percentage"][:-1]) < 100
assert torch_neuronx.analyze(divided, x, additional_ignored_ops={"aten::nonzero"})["unsupported_operators"] == []
one, = torch_neuronx.analyze(lambda t: torch.fft.fft(t), torch.arange(4))["unsupported_operators"]
assert one["kind"] == "aten::fft_fft"
found = torch_neuronx.analyze(torchvision.models.resnet18().eval(), torch.rand(1, 3, 32, 32))
assert found["supported_operators"]["aten::_convolution"] == 20 and found["support_percentage"] == "100.00%"
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
assert torch_neuronx.analyze(layer, torch.rand(2, 3, 8))["support_percentage"] == "100.00%"
"""
DIVIDED = HEAD + """
same(torch_neuronx.trace(whole, x, partitioner_config=PartitionerConfig()), whole)
model = torch_neuronx.trace(divided, x, partitioner_config=PartitionerConfig(trace_kwargs={"compiler_args": "-O1"}))
same(model, divided)
assert len(model.models) == 3
torch.jit.save(model, "model.pt")
same(torch.jit.load("model.pt"), divided)
model = torch_neuronx.trace(whole, x, partitioner_config=PartitionerConfig(ops_to_partition={"aten::log_softmax"}))
same(model, whole), same(torch_neuronx.dynamic_batch(model), whole)
refused(lambda: model(x[:2]), Exception, "the model was traced for inputs")
for words, given in (("found 3 subgraphs which exceeds the specified max subgraph count", dict(max_subgraph_count=2)),
                     ("below threshold of 99.00%", dict(model_support_percentage_threshold=0.99)),
                     ("less than the specified min subgraph size of 2", dict(min_subgraph_size=2))):
    refused(lambda: torch_neuronx.trace(divided, x, partitioner_config=PartitionerConfig(**given)), ValueError, words)
refused(lambda: PartitionerConfig(analyze_parameters={"cleanup": True}), TypeError, "cleanup")
"""
HOSTED = """
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True)).eval()
x = torch.rand(1, 3, 8, 8)
traced = torch.jit.trace(model, x)
assert torch.equal(traced(x + 1), model(x + 1)) and not torch.equal(traced(x), traced(x + 1))
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Partition(device_scripts.Scripts):
    def test_operators_are_counted_by_whether_the_device_has_them(self):
        self.runs(ANALYZED)

    def test_the_host_computes_what_the_device_does_not(self):
        done = self.runs(DIVIDED)
        self.assertIn("aten::nonzero x", done.stdout + done.stderr)

    def test_the_host_traces_its_own_convolutions(self):
        self.runs(HOSTED)


if __name__ == "__main__":
    unittest.main()
