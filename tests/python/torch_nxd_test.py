"""neuronx_distributed on simulated cores: a decoder of parallel layers trains as the same model of PyTorch's layers
does in one process on the CPU; ZeRO-1 is AdamW; checkpoints come back; a feature that is not there is one error."""
import math
import pathlib
import re
import sys
import tempfile
import unittest

import forked

try:
    import torch
except ImportError:
    torch = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from nxd_texts import CHECKPOINTS, CONVOLUTIONS, HEAD, LAYERS, LOOPS, LORA, LOSSES, MAPPINGS  # noqa: E402

ABSENT = (
    ("nxd.neuronx_distributed_config(pipeline_parallel_size=2)", "pipeline_model_parallel_size=2 is not supported"),
    ("nxd.neuronx_distributed_config(tensor_parallel_size=4)", "tensor_model_parallel_size=4 does not divide 2 cores"),
    ("nxd.neuronx_distributed_config(optimizer_config={'zero1': True})", "has no key 'zero1'"),
    ("start(2); layers.ColumnParallelLinear(4, 6, pads=True)", "unexpected keyword argument 'pads'"),
    ("start(2); layers.ColumnParallelLinear(4, 5)", "5 is not divisible by 2"),
    ("start(2); layers.ColumnParallelLinear(4, 6)(torch.ones(2, 4))", "gets a host tensor"),
    ("from neuronx_distributed.parallel_layers.layers import LinearWithAsyncCommunication",
     "LinearWithAsyncCommunication of the module neuronx_distributed.parallel_layers.layers is not supported"),
    ("start(2); layers.OutputChannelParallelConv2d(4, 5, 3)", "5 is not divisible by 2"),
    ("start(2); layers.InputChannelParallelConv2d(4, 5, 3, dilation=2)", "Non-1 dilation is not yet supported"),
    ("start(2); layers.InputChannelParallelConv2d(4, 5, [3, 3])", "an int or a tuple of ints"),
    ("import neuronx_distributed.modules.moe", "the module neuronx_distributed.modules.moe is not supported"))
WHOLE = """
import torch, torch.nn as nn, torch.nn.functional as F
from neuronx_distributed.parallel_layers import layers, mappings, parallel_state
assert parallel_state.get_tensor_model_parallel_group() is None and not parallel_state.model_parallel_is_initialized()
x = torch.randn(2, 4)
for kind, given in ((layers.ColumnParallelLinear, {}), (layers.ColumnParallelLinear, dict(gather_output=False)),
                    (layers.RowParallelLinear, dict(bias=False))):
    layer = kind(4, 6, **given)
    there = kind(4, 6, **given).to("xla")
    there.load_state_dict(layer.state_dict())
    y = layer(x)
    y.sum().backward()
    assert torch.allclose(y, F.linear(x, layer.weight, layer.bias), atol=1e-6)
    assert torch.allclose(y, there(x.to("xla")).cpu(), atol=1e-6)
    assert torch.allclose(layer.weight.grad, x.sum(0).expand(6, 4))
for given in (dict(), dict(shard_across_embedding=True)):
    words = layers.ParallelEmbedding(5, 3, **given)
    assert torch.equal(words(torch.tensor([4, 0])), words.weight[[4, 0]])
assert mappings.reduce_from_tensor_model_parallel_region(x) is not None
from neuronx_distributed.optimizer import NeuronZero1Optimizer
NeuronZero1Optimizer(layer.parameters(), torch.optim.SGD, lr=0.1)
"""
MODELS = pathlib.Path(__file__).resolve().parent / "nxd_models.py"

@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Distributed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_file(self, path, cores, *arguments, settings=("--numeric",)):
        command = [sys.executable, "-B", "-m", "trnsim.torch", *settings, "--cores", str(cores), str(path), *arguments]
        return forked.run(command, cwd=self.root)

    def run_text(self, text, cores):
        path = self.root / "script.py"
        path.write_text(HEAD + text)
        return self.run_file(path, cores)

    def passes(self, text, cores):
        done = self.run_text(text, cores)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertIn("computed by               the simulated instructions", done.stderr)
        self.assertNotIn("differ by core", done.stderr)
        return done.stdout

    def trained(self, cores, *arguments):
        """[(loss, norm)], and gradients and weights by name."""
        out = self.root / "out.pt"
        if cores:
            done = self.run_file(MODELS, cores, "--out", str(out), *arguments)
        else:
            done = forked.run([sys.executable, "-B", str(MODELS), "--plain", "--out", str(out), *arguments])
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.report = done.stderr
        return [tuple(map(float, row)) for row in re.findall(r"loss (\S+) norm (\S+)", done.stdout)], torch.load(out)

    def as_plain(self, cores, *arguments):
        steps, found = self.trained(cores, *arguments)
        plain_steps, plain = self.trained(0)
        self.assertEqual((len(steps), len(plain_steps)), (4, 4))
        for here, there in zip(steps, plain_steps):
            for a, b in zip(here, there):
                self.assertTrue(math.isclose(a, b, rel_tol=1e-4), f"{steps} and on the CPU {plain_steps}")
        self.assertEqual(found.keys() - plain.keys(), set())
        self.assertIn("blocks.1.qkv.weight", found)
        for name, value in found.items():  # AdamW's steps of 0.01 make of the last bits of small gradients some 1e-6
            error = (value - plain[name]).abs().max().item()
            self.assertLess(error, 1e-4 * max(plain[name].abs().max().item(), 1), name)
        self.assertNotIn("differ by core", self.report)

    def test_two_parts(self):
        self.as_plain(2, "--tp", "2")

    def test_four_parts(self):
        self.as_plain(4, "--tp", "4")

    def test_two_copies_of_two_parts(self):
        self.as_plain(4, "--tp", "2")

    def test_two_copies_of_four_parts(self):
        self.as_plain(8, "--tp", "4", "--zero")

    def test_optimizer_in_parts(self):
        self.as_plain(4, "--tp", "2", "--zero")

    def test_sequence_in_parts(self):
        self.as_plain(4, "--tp", "2", "--sp", "--zero")

    def test_values_computed_again(self):
        self.as_plain(2, "--tp", "2", "--checkpoint")

    def test_mappings_and_their_gradients(self):
        out = self.passes(MAPPINGS, 4)
        self.assertEqual(out, "all is well\n")

    def test_losses_of_divided_words(self):
        out = self.passes(LOSSES, 4)
        self.assertEqual(out, "")

    def test_layers_of_each_form(self):
        self.passes(LAYERS, 2)

    def test_layers_without_groups_are_those_of_pytorch(self):
        path = self.root / "script.py"
        path.write_text(WHOLE)
        done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--numeric", str(path)], cwd=self.root)
        self.assertIn("AssertionError: model parallelism is not initialized", done.stderr)
        self.assertRegex(done.stderr, r"script.py\", line 21, in")

    def test_convolutions(self):
        self.passes(CONVOLUTIONS, 2)

    def test_adapters_are_the_sum_of_a_layer_and_a_thin_product(self):
        self.passes(LORA, 2)

    def test_loops_that_average_and_clip_by_themselves(self):
        self.passes(LOOPS, 4)

    def test_checkpoints_come_back(self):
        self.passes(CHECKPOINTS, 4)

    def test_a_feature_that_is_not_there_is_one_error(self):
        for call, words in ABSENT:
            begin = "torch.distributed.init_process_group('xla'); " if "config" in call else ""
            done = self.run_text(f"def f(rank):\n    {begin}{call}\nxmp.spawn(f)\n", 2)
            self.assertEqual((done.returncode, done.stderr.count("error: ")), (1, 1), done.stderr)
            self.assertIn(words, done.stderr)
            self.assertRegex(done.stderr, r'script.py(", line |:)15')


if __name__ == "__main__":
    unittest.main()
