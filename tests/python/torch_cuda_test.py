"""Scripts that take "cuda" where it is available, run with --cuda: the numbers of the CPU, on the simulated device."""
import pathlib
import sys
import tempfile
import unittest

import forked

SCRIPT = """
import os, tempfile, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
use = torch.cuda.is_available()
device = torch.device("cuda:0" if use else "cpu")
torch.manual_seed(1)
more = {"num_workers": 1, "pin_memory": True} if use else {}
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model = nn.DataParallel(model).cuda() if use else model
more_of = {"fused": True} if use else {}
optimizer = torch.optim.Adam(model.parameters(), weight_decay=0.1, amsgrad=True, **more_of)
scaler = torch.cuda.amp.GradScaler(enabled=use)
data = TensorDataset(torch.randn(12, 4), torch.randint(0, 2, (12,)))
draws = torch.Generator(device=device).manual_seed(3)
for x, y in DataLoader(data, 4, **more):
    if use:
        x, y = x.cuda(non_blocking=True), y.cuda(device)
    with torch.cuda.amp.autocast(enabled=False):
        loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward(); scaler.unscale_(optimizer); scaler.step(optimizer); scaler.update()
    print("%.5f" % loss.item(), torch.rand(2, generator=draws, device=device).sum().item())
z = torch.zeros(2, 3, device=device)
z[0] += torch.arange(3, device=z.device)
print(z.sum().item(), z.device == device, z.device.type == device.type)
path = os.path.join(tempfile.mkdtemp(), "m.pth")
torch.save(model.state_dict(), path)
model.load_state_dict(torch.load(path, map_location=device))
print("%.5f" % sum(p.sum().item() for p in model.parameters()))
if use:
    name, memory = torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0).total_memory
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record(); end.record(); torch.cuda.synchronize(); torch.cuda.empty_cache()
    held = torch.cuda.memory_allocated()
    assert torch.zeros(2, device=0).is_cuda and torch.ones(2).to(0).is_cuda and z.new_zeros(3).shape == (3,)
    assert next(nn.Linear(2, 2).to(0).parameters()).is_cuda and not torch.ones(2).new_zeros(3).is_cuda
    old = torch.cuda.FloatTensor([1, 2])
    assert isinstance(old, torch.cuda.FloatTensor) and not isinstance(torch.ones(2), torch.cuda.FloatTensor)
    assert old.type(torch.cuda.LongTensor).dtype is torch.int64 and torch.cuda.LongTensor(2, 3).shape == (2, 3)
    assert torch.arange(3, device=old.get_device()).is_cuda
    assert z.is_cuda and begin.elapsed_time(end) >= 0 and 0 < held < memory and torch.cuda.device_count() == 1, held
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert model(x).dtype is torch.bfloat16
"""


@unittest.skipUnless(forked.is_there("torch"), "no PyTorch: install python3-torch")
class Cuda(unittest.TestCase):
    def run_it(self, *settings):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(SCRIPT)
            done = forked.run([sys.executable, "-B", *settings, str(path)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_script_for_gpus_has_the_cpus_numbers(self):
        there, here = self.run_it(), self.run_it("-m", "trnsim.torch", "--numeric", "--cuda")
        self.assertEqual(here.stdout, there.stdout)
        self.assertIn("3 x optimizer.step", here.stderr)

    def test_a_script_that_stays_on_the_host_is_told(self):
        self.assertIn("nothing ran on the simulated device", self.run_it("-m", "trnsim.torch", "--numeric").stderr)


if __name__ == "__main__":
    unittest.main()
