"""torch_xla.stablehlo: exported modules as a text, as files, and as programs to call."""
import unittest

import device_scripts

try:
    import torch  # noqa: whether it is there
except ImportError:
    torch = None

EXPORTED = """
import json, numpy
from torch.export import export
from torch_xla.stablehlo import StableHLOExportOptions, StableHLOGraphModule, exported_program_to_stablehlo, \\
    save_as_stablehlo, save_torch_model_as_stablehlo
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.last = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 2)
    def forward(self, x, scale):
        hidden = self.norm(self.conv(x)).relu().mean((2, 3))
        return self.last(hidden) * scale, {"hidden": hidden}
net, x, scale = Net().eval(), torch.rand(2, 3, 6, 6), torch.tensor([2.0, 3.0])
want, other = net(x, scale)
program = exported_program_to_stablehlo(export(net, (x, scale)))
def same(found):
    got, more = found(x.to(d), scale.to(d))
    assert str(got.device) == "xla:0" and torch.allclose(got.cpu(), want, atol=1e-5)
    assert torch.allclose(more["hidden"].cpu(), other["hidden"], atol=1e-5)
same(program), same(lambda *given: program.evaluate("forward", given))
text = program.get_stablehlo_text("forward")
assert "stablehlo.convolution" in text and "tensor<4x3x3x3xf32>" in text.split("->")[0]
program.save("net"), save_as_stablehlo(export(net, (x, scale)), "again")
save_torch_model_as_stablehlo(net.last, x[0, 0, :, :4], "last")
same(StableHLOGraphModule.load("net"))
assert open("net/functions/forward.mlir").read() == text == open("again/functions/forward.mlir").read()
assert numpy.array_equal(numpy.load("net/data/last.weight.npy"), net.last.weight.detach().numpy())
assert json.load(open("net/functions/forward.meta"))["input_signature"][1] == {"shape": [2], "dtype": "float32"}
refused(program.get_stablehlo_bytecode, Exception, "bytecode")
refused(lambda: program(x[:1], scale), Exception, "traced for")
refused(lambda: program.evaluate("backward", (x, scale)), KeyError, "forward")
refused(lambda: export(net, (x, scale), dynamic_shapes={}), Exception, "dynamic_shapes")
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class StableHlo(device_scripts.Scripts):
    def test_an_exported_module_is_a_text_and_a_program(self):
        self.runs(EXPORTED)


if __name__ == "__main__":
    unittest.main()
