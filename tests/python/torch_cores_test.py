"""Scripts on several simulated cores: gradients averaged over cores are those of one batch, torch.distributed,
DistributedDataParallel, torchrun's environment, and the end of cores that fail."""
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import forked

try:
    import torch
except ImportError:
    torch = None

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = pathlib.Path(os.environ.get("TRNSIM_SCRIPTS", HERE.parents[2] / "shared" / "frontend" / "scripts"))
sys.path.insert(0, str(HERE))
HEAD = "import os, sys, torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist\n" \
       "import torch_xla.core.xla_model as xm, torch_xla.distributed.xla_multiprocessing as xmp\n"
DDP = HEAD + """
import torch_xla.distributed.xla_backend
dist.init_process_group("xla")
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
assert (rank, size) == (dist.get_rank(), dist.get_world_size()) == (xm.get_ordinal(), xm.xrt_world_size())
torch.manual_seed(rank)  # each begins with other weights: those of core 0 count
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).to("xla"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(4):
    x = torch.randn(8, 6, generator=torch.Generator().manual_seed(step))[rank::size].to("xla")
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    xm.mark_step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    total = total.item() / size  # on each core: all of them have to be there
    if rank == 0:
        print("loss", total)
"""
ONE = """
import torch, torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(4):
    x = torch.randn(8, 6, generator=torch.Generator().manual_seed(step))
    optimizer.zero_grad(); loss = model(x).pow(2).mean(); loss.backward(); optimizer.step()
    print("loss", loss.item())
"""
COLLECTIVES = HEAD + """
def f(rank):
    size, mine = xm.xrt_world_size(), torch.arange(8.0) + 10 * xm.get_ordinal()
    x = mine.to("xla")
    every = [torch.arange(8.0) + 10 * r for r in range(size)]
    same = lambda a, b: torch.equal(a.cpu(), b) or sys.exit(f"{a} {b}")
    same(xm.all_reduce(xm.REDUCE_SUM, x), sum(every))
    same(xm.all_reduce("max", x, scale=0.5), every[-1] / 2)
    same(xm.all_gather(x), torch.cat(every))
    same(xm.reduce_scatter("sum", x, 1.0, 0, size), sum(every).chunk(size)[rank])
    same(xm.all_to_all(x.reshape(size, -1), 0, 0, size), torch.stack([e.reshape(size, -1)[rank] for e in every]))
    pairs = [[r, (r + 1) % size] for r in range(size)]
    same(xm.collective_permute(x, pairs), every[(rank - 1) % size])
    groups = [[0, 1], [2, 3]]
    same(xm.all_reduce("sum", x, groups=groups), sum(every[r] for r in groups[rank // 2]))
    a, b = x.clone(), (x * 2).clone()
    xm.all_reduce("sum", [a, b])
    same(a, sum(every)); same(b, 2 * sum(every))
    assert xm.mesh_reduce("t", rank, sum) == sum(range(size)) and len(xm.rendezvous("r", b"x")) == size
    dist.init_process_group("xla")
    parts = [torch.zeros(8).to("xla") for _ in range(size)]
    dist.all_gather(parts, x)
    for r in range(size): same(parts[r], every[r])
    y = x.clone(); dist.broadcast(y, 2); same(y, every[2])
    pair = [dist.new_group([0, 1]), dist.new_group([2, 3])][rank // 2]
    z = x.clone(); dist.all_reduce(z, op=dist.ReduceOp.MAX, group=pair); same(z, every[rank // 2 * 2 + 1])
    h = mine.clone(); dist.all_reduce(h); same(h, sum(every))
    names = [None] * size; dist.all_gather_object(names, {"rank": rank}); assert names[3] == {"rank": 3}
    dist.barrier(); xm.master_print("all is well")
xmp.spawn(f)
"""
DIFFERENT = HEAD + """
def f(rank):
    x = torch.ones(4).to("xla")
    print(xm.all_reduce("sum", x) if rank else xm.all_gather(x))
xmp.spawn(f)
"""
OWN_PARTS = HEAD + """
import torch_xla.distributed.xla_backend
def f(rank):
    dist.init_process_group("xla")
    weight = torch.arange(12.0).view(4, 3).to("xla")
    mine = weight[rank * 2:rank * 2 + 2] * (rank + 1)  # slices and factors that differ by core
    every = xm.all_gather(mine) + 1
    total = xm.all_reduce("sum", every.sum() * rank)
    if rank == 0:
        print("read by one", total.item())
    spare = mine.sum().clone()
    dist.reduce(spare, 0)
    seen = [torch.zeros(2, 3).to("xla") for _ in range(2)] if rank == 0 else None
    dist.gather(mine, seen, 0)
    if rank == 0:
        print("reduced", spare.item(), [t.sum().item() for t in seen])
    del spare
    last = torch.full((2,), float(rank + 2)).to("xla")
    dist.all_reduce(last)
    print("last", last.tolist(), total.item())
xmp.spawn(f, nprocs=2)
"""
SHARDED = HEAD + """
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
def f(rank):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).to("xla")
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=0.1, max_norm=0.5)
    for step in range(4):
        x = torch.randn(8, 6, generator=torch.Generator().manual_seed(step))[rank::2].to("xla")
        optimizer.zero_grad(); loss = model(x).pow(2).mean(); loss.backward(); optimizer.step(); xm.mark_step()
        total = xm.all_reduce("sum", loss.detach()).item() / 2
        if rank == 0:
            print("loss", total)
        optimizer.load_state_dict(optimizer.state_dict())
xmp.spawn(f, nprocs=2)
"""
WIDE = HEAD + """
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
def f(rank):
    def of(**settings):
        torch.manual_seed(0)
        model = nn.Linear(64, 8, bias=False).to("xla").bfloat16()
        return model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=1.0, grad_clipping=False,
                                              **settings)
    def backward(model, seed):
        x = torch.randn(4, 64, generator=torch.Generator().manual_seed(seed))[rank::2].to("xla").bfloat16()
        model(x).float().pow(2).mean().backward()
    def part(optimizer):
        return optimizer.base_optimizer.param_groups[0]["params"][0].detach()
    single = []
    for seed in (1, 2):
        model, _ = of()
        backward(model, seed)
        single.append(model.weight.grad.float())
    adds = {"bf16": (single[0].bfloat16() + single[1].bfloat16()).float(), "fp32": single[0] + single[1]}
    for settings, added, reduced in (({}, "bf16", "bf16"), ({"higher_cc_precision": True}, "bf16", "fp32"),
                                     ({"use_grad_acc_hook": True, "higher_cc_precision": True}, "fp32", "fp32")):
        model, optimizer = of(**settings)
        before = part(optimizer).clone()
        backward(model, 1); backward(model, 2)
        optimizer.step()
        rows = adds[added].bfloat16() if reduced == "bf16" else adds[added]
        total = xm.all_reduce("sum", rows)
        wanted = before - (total / 2).float()[rank * 4:rank * 4 + 4]
        print("loss", torch.equal(part(optimizer).cpu(), wanted.cpu()) + 0.0)
    for kept in (False, True):
        model, optimizer = of(save_master_weights=kept)
        backward(model, 1); optimizer.step()
        own = part(optimizer).clone()
        optimizer.load_state_dict(optimizer.state_dict())
        print("loss", torch.equal(part(optimizer).cpu(), own.cpu()) + 0.0)
xmp.spawn(f, nprocs=2)
"""
SPAWNED = """
import os, sys, torch, torch.nn as nn, torch.distributed as dist, torch.multiprocessing as mp
def f(rank, world, lr):
    dist.init_process_group("nccl" if sys.argv[1] == "cuda" else "gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    device = f"cuda:{rank}" if sys.argv[1] == "cuda" else sys.argv[1]
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for step in range(3):
        x = torch.randn(4, 4, generator=torch.Generator().manual_seed(10 * step + rank)).to(device)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:  # no other core reads it, nor the last step's
            print("loss", total.item() / world)
    dist.barrier()
if __name__ == "__main__":
    mp.spawn(f, args=(2, 0.1), nprocs=2)
"""
UNUSED = HEAD + """
import torch.distributed as dist, torch_xla.distributed.xla_backend
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    def forward(self, x, which):
        return self.parts[which](x)
def f(rank):
    dist.init_process_group("xla")
    torch.manual_seed(0)
    two, whole = Two(), Two()
    whole.load_state_dict(two.state_dict())
    model = nn.parallel.DistributedDataParallel(two.to("xla"), find_unused_parameters=FINDS)
    optimizer, one = (torch.optim.SGD(m.parameters(), 0.1, weight_decay=0.1) for m in (two, whole))
    for step in range(2):
        optimizer.zero_grad(); one.zero_grad()
        model(torch.ones(2, 4).to("xla"), rank).pow(2).sum().backward()
        (sum(whole(torch.ones(2, 4), r).pow(2).sum() for r in range(2)) / 2).backward()
        optimizer.step(); one.step(); xm.mark_step()
    print("far", max((p.cpu() - q).abs().max().item() for p, q in zip(two.parameters(), whole.parameters())) > 1e-6)
xmp.spawn(f, nprocs=2)
"""
UNCHANGED = DDP.replace("optimizer.step()", "").replace("xm.mark_step()", "").replace("optimizer.zero_grad()", "")


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Cores(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def command(self, text, *settings):
        path = self.root / "script.py"
        path.write_text(text)
        return [sys.executable, "-B", "-m", "trnsim.torch", "--output_dir", str(self.root / "out"), *settings,
                str(path)]

    def run_it(self, text, *settings):
        return forked.run(self.command(text, *settings), cwd=self.root)

    def close(self, here, there, count):
        values = [[float(x) for x in re.findall(r"loss (\S+)", text)] for text in (here, there)]
        self.assertEqual([len(v) for v in values], [count, count])
        for a, b in zip(*values):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-5), f"{a} {b}")

    def test_parameters_that_one_core_alone_uses(self):
        here = self.run_it(UNUSED.replace("FINDS", "True"), "--numeric")
        self.assertEqual((here.returncode, here.stdout), (0, "far False\n" * 2), here.stderr)
        here = self.run_it(UNUSED.replace("FINDS", "False"), "--numeric")
        self.assertEqual(here.returncode, 1)
        self.assertRegex(here.stderr, "4 of 6 parameters got no gradient on this core")

    def test_sharded_optimizers_obey_settings_of_types(self):
        here = self.run_it(WIDE, "--numeric")
        self.assertEqual(here.returncode, 0, here.stderr)
        values = re.findall(r"loss (\S+)", here.stdout)
        self.assertEqual(sorted(values), ["0.0"] * 2 + ["1.0"] * 8, here.stdout)

    def test_ddp_with_torchruns_environment_is_one_batch(self):
        here = self.run_it(DDP, "--nproc_per_node", "2")
        self.assertEqual(here.returncode, 0, here.stderr)
        self.assertRegex(here.stderr, r"2 cores \*+\ncomputed by +the simulated instructions\n")
        there = forked.run([sys.executable, "-B", "-c", ONE])
        self.close(here.stdout, there.stdout, 4)

    def test_collectives(self):
        done = self.run_it(COLLECTIVES, "--cores", "4", "--numeric")
        self.assertEqual((done.returncode, done.stdout), (0, "all is well\n"), done.stderr)

    def test_graphs_that_differ_by_core_meet_in_their_collectives(self):
        done = self.run_it(OWN_PARTS, "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr)
        first = 2 * sum(range(6, 12)) + sum(range(6)) + 12
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"last [5.0, 5.0] {first:.1f}"] * 2 +
                         [f"read by one {first:.1f}", "reduced 117.0 [15.0, 102.0]"])
        self.assertIn("collectives of graphs that differ by core", done.stderr)

    def test_multiprocessing_spawns_cores(self):
        runs = []
        for device, settings in (("cpu", ()), ("xla", ()), ("cuda", ("--cuda",))):
            command = self.command(SPAWNED, "--numeric", *settings) + [device]
            runs.append(forked.run(command, cwd=self.root))
            self.assertEqual(runs[-1].returncode, 0, runs[-1].stderr)
        for run in runs[1:]:
            self.close(run.stdout, runs[0].stdout, 3)
            self.assertIn("2 cores", run.stderr)

    def test_an_optimizer_in_parts_is_the_whole_one(self):
        done = self.run_it(SHARDED, "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = ONE.replace("SGD(model.parameters(), lr=0.5)", "AdamW(model.parameters(), lr=0.1)").replace(
            "optimizer.step()", "nn.utils.clip_grad_norm_(model.parameters(), 0.5); optimizer.step()")
        there = forked.run([sys.executable, "-B", "-c", whole])
        self.close(done.stdout, there.stdout, 4)

    def test_gradients_are_averaged_where_nothing_steps(self):
        done = self.run_it(UNCHANGED, "--nproc_per_node", "2", "--numeric")
        self.assertEqual(done.returncode, 0, done.stderr)
        there = forked.run([sys.executable, "-B", "-c", ONE.replace("optimizer.step()", "")])
        self.close(done.stdout, there.stdout, 4)

    def test_different_collectives_are_one_error(self):
        done = self.run_it(DIFFERENT, "--cores", "2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "error: cores wait for different collectives: core 0 waits in a graph with "
                                      "all_gather.*core 1 waits in a graph with all_reduce")
        self.assertEqual(done.stderr.count("error:"), 1)

    def test_an_exception_names_its_core(self):
        done = self.run_it(HEAD + "def f(rank):\n    x = torch.ones(2).to('xla')\n"
                                  "    if rank: raise ValueError('no data')\n    print(xm.all_reduce('sum', x))\n"
                                  "xmp.spawn(f)\n", "--cores", "2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "error: core 1 of 2 failed: Traceback(.|\n)*ValueError: no data")

    def test_ctrl_c_leaves_no_process(self):
        text = HEAD + "import time\ndef f(rank):\n    print(os.getpid(), flush=True); time.sleep(60)\nxmp.spawn(f)\n"
        process = subprocess.Popen(self.command(text, "--cores", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        pids = [int(process.stdout.readline()) for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=240)
        self.assertEqual((process.returncode, errors.count("error:")), (130, 1), errors)
        self.assertEqual([pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()], [])

    def test_ctrl_c_while_cores_start_leaves_no_process(self):
        text = HEAD + ("import signal, threading, time\ndef f(rank):\n    xm.rendezvous('never')\nfork = os.fork\n"
                       "def interrupted():\n    pid = fork()\n    if pid:\n        print(pid, flush=True)\n"
                       "        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(0.01)\n    return pid\n"
                       "os.fork = interrupted\n")
        threads = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"  # which may take the signal
        for before in ("", threads):
            done = self.run_it(text + before + "xmp.spawn(f)\n", "--cores", "2")
            self.assertEqual((done.returncode, done.stderr.count("error:")), (130, 1), done.stderr)
            pids = done.stdout.split()
            self.assertEqual([pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()], [])
            self.assertEqual(len(pids), 2)

    def test_an_interrupt_that_only_a_core_sees_is_one_of_all(self):
        text = HEAD + ("import signal, time\ndef f(rank):\n    if rank: os.kill(os.getpid(), signal.SIGINT)\n"
                       "    time.sleep(60)\nxmp.spawn(f)\n")
        done = self.run_it(text, "--cores", "2")
        self.assertEqual((done.returncode, done.stderr.count("error:")), (130, 1), done.stderr)

    @unittest.skipUnless(SCRIPTS.is_dir(), "there are no scripts of others beside the repository")
    def test_aws_train_xmp(self):
        from torch_scripts_test import write_pictures
        for cores, pictures in ((2, 320), (32, 1024)):
            write_pictures(self.root / "MNIST_DATA_train", pictures, 16)
            script = str(SCRIPTS / "aws_mnist_mlp" / "train_xmp.py")
            command = [sys.executable, "-B", "-m", "trnsim.torch", "--numeric", "--cores", str(cores), script]
            done = forked.run(command, cwd=self.root)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("computed by               the simulated instructions\n", done.stderr)
            here = torch.load(self.root / "checkpoints" / "checkpoint.pt")["state_dict"]
            for name, weight in averaged(cores, self.root).items():
                error = (here[name] - weight).abs().max() / weight.abs().max()
                self.assertLess(error.item(), 1e-5, f"{name} on {cores} cores")


def averaged(cores, root):
    """The weights of train_xmp.py's model, its gradients averaged over the cores' batches on the CPU."""
    sys.path.insert(0, str(SCRIPTS / "aws_mnist_mlp"))
    from model import MLP
    from torchvision.datasets import mnist
    from torchvision.transforms import ToTensor
    data = mnist.MNIST(root=str(root / "MNIST_DATA_train"), train=True, transform=ToTensor())
    torch.manual_seed(0)
    model = MLP()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * cores)
    samplers = [torch.utils.data.distributed.DistributedSampler(data, num_replicas=cores, rank=r, shuffle=True)
                for r in range(cores)]
    for _ in range(4):
        for batches in zip(*(torch.utils.data.DataLoader(data, batch_size=32, sampler=s) for s in samplers)):
            optimizer.zero_grad()
            losses = [torch.nn.functional.nll_loss(model(x.view(x.size(0), -1)), y) for x, y in batches]
            (sum(losses) / cores).backward()
            optimizer.step()
    return model.state_dict()


if __name__ == "__main__":
    unittest.main()
