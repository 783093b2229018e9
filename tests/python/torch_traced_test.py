"""torch_neuronx.trace: a model compiled ahead of time, its weights constants of the program."""
import os
import pathlib
import sys
import tempfile
import unittest

import forked

HEAD = """
import torch
import torch_neuronx
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                          torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8 * 16, 5)).eval()
x = torch.randn(2, 3, 8, 8)
model = torch_neuronx.trace(net, x, compiler_args="--optlevel 2")
"""

COMPILES = """
import torch, torch_neuronx, typing
class Out(typing.NamedTuple):
    y: torch.Tensor
    pair: list
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.norm = torch.nn.Linear(4, 2), torch.nn.BatchNorm1d(2)
    def forward(self, x, ids):
        return Out(self.norm(self.l(x)) * 3.5, [ids.clamp(min=1), x[:, 1:]])
torch.manual_seed(0)
net, inputs = Net().eval(), (torch.rand(3, 4), torch.arange(3))
model = torch_neuronx.trace(net, inputs)
model.save("net.pt")
torch.save((inputs, list(net(*inputs))), "wanted.pt")
"""
SERVES = """
import torch, torch_neuronx
model, (inputs, (y, pair)) = torch.jit.load("net.pt"), torch.load("wanted.pt")
got = torch.jit.load("net.pt")(*inputs)
got = model(*inputs)
assert type(got) is tuple and type(got[1]) is list, got
if got[0].device.type == "cpu":  # --timed computes nothing
    assert torch.allclose(got[0], y, atol=1e-5) and all(map(torch.equal, got[1], pair)), (got, y)
"""
STATES = """
class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(4), requires_grad=False)])
    def forward(self, x):
        new = self.cache[0] + x
        return new.sum(), [new]
net = Cache()
model = torch_neuronx.trace(net, torch.ones(4), input_output_aliases={net.cache[0]: 1})
torch.jit.save(model, "model.pt")
for each in (model, torch.jit.load("model.pt")):
    found = [each(torch.ones(4)) for _ in range(3)]
    print([out[0].item() for out in found], [out[1][0][0].item() for out in found])
for state in model.parameters():
    state.copy_(torch.full((4,), 10.))
print([model(torch.ones(4))[0].item() for _ in range(2)])
for place in (2, 0):
    try:
        torch_neuronx.trace(net, torch.ones(4), input_output_aliases={net.cache[0]: place})
    except NotImplementedError as error:
        print(str(error)[str(error).index("the result"):][:70].split(" tensors")[0].split(" of ")[0])
for call in (lambda: torch_neuronx.trace(net, torch.ones(4), input_output_aliases={torch.ones(4): 1}),
             lambda: torch_neuronx.DataParallel(model)):
    try:
        call()
    except NotImplementedError as error:
        print("no parameter and no buffer" if "no buffer" in str(error) else str(error).split(": ")[1][:30])
"""
REPLACED = """
import copy, io
def same(a, b): assert torch.allclose(a(x), b(x), rtol=1e-5, atol=1e-5)
class Shares(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)
        self.second = self.first
    def forward(self, x): return self.norm(self.second(self.first(x)))
def made(seed):
    torch.manual_seed(seed)
    net = Shares().eval()
    net.norm.running_mean.uniform_()
    return net
one, two, three, pictures, x = made(1), made(2), made(3), x, torch.randn(2, 4)
with torch.no_grad():
    ours = torch_neuronx.trace(one, x, inline_weights_to_neff=False)
    other = copy.deepcopy(ours)
    assert torch_neuronx.replace_weights(other, two.state_dict()) is None
    same(ours, one); same(other, two)
    torch_neuronx.replace_weights(torch_neuronx.dynamic_batch(ours), three)
    same(ours, three); same(other, two)
    torch_neuronx.replace_weights(ours, {"norm.running_mean": one.norm.running_mean})
    three.norm.running_mean.copy_(one.norm.running_mean)
    same(ours, three)
    file = io.BytesIO()
    torch.jit.save(ours, file); file.seek(0)
    again = torch.jit.load(file)
    torch_neuronx.replace_weights(again, two)
    same(again, two); same(ours, three)
    try:
        torch_neuronx.replace_weights(ours, torch.nn.ModuleDict({"first": torch.nn.Linear(4, 3)}))
    except Exception as error:
        assert "first.weight is (3, 4) of torch.float32, and the model was traced with (4, 4)" in str(error), error
    else:
        raise SystemExit("no error")
torch_neuronx.replace_weights(model, net)
assert torch.allclose(model(pictures), net(pictures), rtol=1e-5, atol=1e-5)
"""
WRITTEN = REPLACED[:REPLACED.index("with torch")] + """
with torch.no_grad():
    ours = torch_neuronx.trace(one, x, inline_weights_to_neff=False)
    names = {name for name, _ in ours.named_parameters()}
    assert names == set(ours.state_dict()), names
    assert "weights.norm->running_mean" in names and "weights.first->weight" in names, names
    found, new = ours.state_dict(), two.state_dict()
    for key in new:
        if "weights." + key.replace(".", "->") in found:
            found["weights." + key.replace(".", "->")].copy_(new[key])
    same(ours, two)
    other, file = copy.deepcopy(ours), io.BytesIO()
    ours.load_state_dict({"weights." + key.replace(".", "->"): value for key, value in three.state_dict().items()
                          if "weights." + key.replace(".", "->") in names})
    torch.jit.save(ours, file); file.seek(0)
    again = torch.jit.load(file)
    same(ours, three); same(other, two); same(again, three)
    ours.weights["norm->bias"] += 1
    three.norm.bias += 1
    same(ours, three)
    torch_neuronx.replace_weights(ours, one)
    same(ours, one)
    assert torch.allclose(dict(ours.named_parameters())["weights.norm->bias"].cpu(), one.norm.bias)
    assert not again.training and not ours.training and again.train().training
assert not list(model.named_parameters())
"""
UNCOPIED = """
import threading
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.utils.weight_norm(torch.nn.Conv1d(4, 4, 3, padding=1), dim=2)
        self.lock, self.file, self.seen = threading.Lock(), open(__file__), None
        self.register_buffer("count", torch.zeros(2))
        self.register_buffer("none", None)
        self.without = torch.nn.BatchNorm1d(4, affine=False, track_running_stats=False)
        self.tied = self.conv.bias
    def forward(self, x):
        with self.lock:
            self.seen = self.conv(x)
            self.count.add_(1)
            return self.seen + self.tied[0] + self.count[0]
net, x = Net(), torch.randn(1, 4, 8)
before, weights = dict(vars(net)), {name: (id(t), t.clone()) for name, t in net.state_dict(keep_vars=True).items()}
model = torch_neuronx.trace(net, x)
assert dict(vars(net)) == before and net.seen is None and net.conv.weight.device.type == "cpu"
assert all(weights[name][0] == id(t) and torch.equal(weights[name][1], t)
           for name, t in net.state_dict(keep_vars=True).items())
assert torch.allclose(model(x), net(x), atol=1e-5)
try:
    torch_neuronx.trace(torch.nn.Sequential(torch.jit.script(torch.nn.Linear(2, 2))), torch.ones(1, 2))
except Exception as error:
    assert "trace the module of which it was made" in str(error), error
else:
    raise SystemExit("no error")
"""
PLACED = """
from torch_neuronx.experimental import profiler
place = torch_neuronx.experimental
place.set_neuron_cores(model, start_nc=0, nc_count=1)
place.set_neuron_cores(torch_neuronx.dynamic_batch(model), 1)
with place.neuron_cores_context(start_nc=1, nc_count=1): torch_neuronx.trace(net, x)
place.set_multicore(model)
with place.multicore_context(): pass
def refused(call, kind, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise SystemExit(f"no error: {words}")
for start, count in ((0, 3), (2, 1), (0, 0), (-2, 1), (1, 2)):
    refused(lambda: place.set_neuron_cores(model, start, count), ValueError, "NeuronCores available: 2")
refused(lambda: place.set_multicore(net), TypeError, "torch_neuronx.trace() made")
with torch_neuronx.experimental.profiler.profile(port=9012, profile_type="operator", target="neuron_profile",
                                                 output_dir="./output", ms_duration=1000) as one:
    model(x)
refused(lambda: profiler.profile(profile_type="all"), ValueError, "profile_type='all': give operator or trace")
refused(lambda: profiler.profile(folder="x"), TypeError, "unexpected keyword argument 'folder'")
"""


@unittest.skipUnless(forked.is_there("torch"), "no torch: install python3-torch")
class Traced(unittest.TestCase):
    def run_script(self, text, *flags, cast="none"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(HEAD + text)
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--output_dir", folder + "/out", *flags,
                               str(path)], cwd=folder, env=dict(os.environ, NEURON_CC_FLAGS="--auto-cast=" + cast))
            graph = pathlib.Path(folder) / "out" / "graph0.mlir"
            return done, graph.read_text() if graph.exists() else ""

    def test_numbers_are_those_of_the_model_and_on_the_host(self):
        done, graph = self.run_script("""
y = model(x)
assert type(y) is torch.Tensor and y.device.type == "cpu"
with torch.no_grad():
    assert torch.allclose(y, net(x), rtol=1e-5, atol=1e-5)
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn('trnsim.traced_ops = "0"', graph)
        self.assertIn("trnsim.constants", graph)

    def test_a_full_disk_is_an_error_that_the_script_can_catch(self):
        done, _ = self.run_script("""
import os
try:
    torch.jit.save(model, "/dev/full")
    raise AssertionError("it was stored")
except OSError as error:
    assert "No space left" in str(error), error
assert not os.path.isfile("/dev/full")
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_weights_that_tensore_alone_reads_are_stored_as_it_takes_them(self):
        done, _ = self.run_script("""
with torch.no_grad():
    error = (model(x) - net(x)).norm() / net(x).norm()
assert 0 < error < 2e-2, error
""", "--numeric", cast="matmult")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_flags_of_the_compiler_belong_to_one_model_and_to_its_file(self):
        done, _ = self.run_script("""
def error(of): return float((of(x) - net(x)).norm() / net(x).norm())
cast = torch_neuronx.trace(net, x, compiler_args=["--auto-cast", "matmult"])
torch.jit.save(cast, "cast.pt")
again = torch.jit.load("cast.pt")
assert error(model) < 1e-5 and 1e-4 < error(cast) == error(again) < 2e-2, (error(model), error(cast), error(again))
later = torch_neuronx.trace(net, x)
assert error(later) < 1e-5 and error(cast) > 1e-4
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertRegex(done.stderr, r"obeyed .*--auto-cast=matmult \(a traced model\)")
        self.assertRegex(done.stderr, r"without effect here +.*optlevel")
        self.assertIn("compiler flags: --auto-cast=matmult --auto-cast-type=bf16 instead of", done.stderr)

    def test_the_host_only_launches(self):
        done, _ = self.run_script("for _ in range(3): model(x)\n", "--timed")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertRegex(done.stdout + done.stderr, r"host 1\d\d us")

    def test_saved_and_loaded_it_is_the_same(self):
        done, _ = self.run_script("""
import io
torch.jit.save(model, "model.pt")
again = torch.jit.load("model.pt")
assert torch.equal(again(x), model(x))
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_a_script_that_knows_nothing_of_the_model_loads_it(self):
        """As AWS's workflow has it: one script compiles, another serves."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text, flags in (("compile", COMPILES, ["--numeric"]), ("serve", SERVES, ["--numeric"]),
                                      ("compile", COMPILES, ["--timed"]), ("serve", SERVES, ["--timed"])):
                path = pathlib.Path(folder) / (name + ".py")
                path.write_text(text)
                done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--output_dir",
                                   f"{folder}/{name}{flags[0]}", *flags, str(path)], cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                self.assertIn("graphs                    1 compiled, 0 of them recompilations", done.stderr)

    def test_states_are_what_results_were(self):
        done, _ = self.run_script(STATES, "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(done.stdout.splitlines(), [
            "[4.0, 8.0, 12.0] [1.0, 2.0, 3.0]", "[4.0, 8.0, 12.0] [1.0, 2.0, 3.0]", "[44.0, 48.0]",
            "the result 2, but the model returns 2", "the result 0, which input_output_aliases gives it, is ()",
            "no parameter and no buffer", "DataParallel() of a model with"])
        self.assertIn("2 compiled, 0 of them recompilations", done.stderr)

    def test_branches_stay_as_they_were_traced(self):
        done, _ = self.run_script("""
def branches(a):
    return a + 1 if a.sum() > 0 else a - 1
model = torch_neuronx.trace(branches, torch.ones(2))
print(model(torch.ones(2)).tolist(), model(-torch.ones(2)).tolist())
""", "--numeric")
        self.assertEqual((done.returncode, done.stdout), (0, "[2.0, 2.0] [0.0, 0.0]\n"), done.stderr[-2000:])
        self.assertIn("script.py:11: trace(): the model reads a value of its inputs, which stays", done.stderr)

    def test_weights_beside_the_program_are_its_parameters(self):
        done, graph = self.run_script("torch_neuronx.trace(net, x)\n", "--numeric")
        _, beside = self.run_script("""
model = torch_neuronx.trace(net, x, inline_weights_to_neff=False)
with torch.no_grad():
    assert torch.allclose(model(x), net(x), rtol=1e-5, atol=1e-5)
import shutil; shutil.copy("out/graph1.mlir", "out/graph0.mlir")
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertNotIn("trnsim.constants = \"\"", graph)
        self.assertGreater(beside.count("%arg"), graph.count("%arg"))

    def test_weights_can_be_replaced(self):
        done, _ = self.run_script(REPLACED, "--numeric")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])
        self.assertIn("replace_weights(): the model has no separate weights", done.stderr)
        self.assertIn("graphs                    2 compiled, 0 of them recompilations", done.stderr)

    def test_weights_are_written_by_their_names(self):
        done, _ = self.run_script(WRITTEN, "--numeric")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])

    def test_a_model_is_traced_without_a_copy_of_it(self):
        done, _ = self.run_script(UNCOPIED, "--numeric")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])

    def test_places_of_models_and_the_profiler(self):
        done, _ = self.run_script(PLACED, "--numeric", "--instance_type", "inf2.xlarge")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-2000:])
        self.assertEqual(done.stderr.count("warning: a model on 2 cores: its calls are timed one after the other"), 1)
        self.assertRegex(done.stderr, r"written to ./output: .*graph0 ran in the block; without --numeric, report")

    def test_any_batch_in_parts_of_the_traced_one(self):
        done, _ = self.run_script("""
any_batch = torch_neuronx.dynamic_batch(torch_neuronx.lazy_load(model))
for count in (1, 2, 5):
    x = torch.randn(count, 3, 8, 8)
    with torch.no_grad():
        assert torch.allclose(any_batch(x), net(x), rtol=1e-5, atol=1e-5)
""", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertRegex(done.stderr, r"graphs +1 compiled, 0 of them recompilations; 6 runs")  # 5 are 3 parts

    def test_other_shapes_and_options_are_refused(self):
        done, _ = self.run_script("model(x[:1])\n", "--numeric")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("was traced for inputs", done.stderr)
        done, _ = self.run_script("torch_neuronx.trace(net, x, optimise=True)\n", "--numeric")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("optimise", done.stderr)
        done, _ = self.run_script("torch_neuronx.trace(net, x, partitioner_config=object())\n", "--numeric")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("trace(): partitioner_config takes a torch_neuronx.PartitionerConfig()", done.stderr)

    def test_copies_on_several_cores_take_a_part_each(self):
        text = """
both = torch_neuronx.DataParallel(model)
more = torch.randn(11, 3, 8, 8)
with torch.no_grad():
    assert torch.allclose(both(more), net(more), rtol=1e-5, atol=1e-5)
    both.disable_dynamic_batching()
    assert torch.allclose(both(more[:4]), net(more[:4]), rtol=1e-5, atol=1e-5)
try:
    both(more[:6])
except Exception as error:
    assert "of [6] along dimension 0 for 2 cores and a model that was traced for [2]" in str(error), error
for wrong in ([0, 2], [1, 1], []):
    try:
        torch_neuronx.DataParallel(model, device_ids=wrong)
    except Exception as error:
        assert "inf2.xlarge has 2" in str(error), error
        print("refused")
"""
        done, _ = self.run_script(text, "--numeric", "--instance_type", "inf2.xlarge")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(done.stdout, "refused\n" * 3)
        self.assertIn("simulated device: 2 cores", done.stderr)
        # trace() itself, then six samples in threes of two on each core, then two
        self.assertIn("1 compiled, 0 of them recompilations; 5 runs", done.stderr)


if __name__ == "__main__":
    unittest.main()
