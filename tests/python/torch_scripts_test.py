"""Scripts of others, unchanged, for 20 steps: the losses of the simulated device and of the CPU."""
import math
import os
import pathlib
import re
import struct
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
DRIVER = str(HERE / "torch_driver.py")
STEPS = 20


def idx_file(path, shape, numbers):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack(">HBB", 0, 8, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + bytes(numbers))


def write_pictures(root, train, test):
    """Pictures and labels as MNIST's files."""
    random = torch.Generator().manual_seed(7)
    for name, count in (("train", train), ("t10k", test)):
        pixels = torch.randint(0, 256, (count * 28 * 28,), generator=random).tolist()
        labels = torch.randint(0, 10, (count,), generator=random).tolist()
        idx_file(root / "MNIST" / "raw" / f"{name}-images-idx3-ubyte", (count, 28, 28), pixels)
        idx_file(root / "MNIST" / "raw" / f"{name}-labels-idx1-ubyte", (count,), labels)


def write_words(root):
    random = torch.Generator().manual_seed(8)
    root.mkdir()
    for name, count in (("train", 130), ("valid", 20), ("test", 20)):
        rows = torch.randint(0, 40, (count, 6), generator=random).tolist()
        (root / f"{name}.txt").write_text("\n".join(" ".join(f"w{i}" for i in row) for row in rows) + "\n")


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
@unittest.skipUnless(SCRIPTS.is_dir(), "there are no scripts of others beside the repository")
class Unchanged(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.work = self.root / "work"
        self.work.mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def losses(self, settings, arguments, simulated):
        command = [sys.executable, "-B"] + (["-m", "trnsim.torch", "--output_dir", str(self.root / "out"), *settings]
                                            if simulated else []) + [DRIVER, str(STEPS), *arguments]
        paths = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(SCRIPTS / "minGPT"), str(SCRIPTS / "llama2.c")])
        done = forked.run(command, cwd=self.work, env=dict(os.environ, PYTHONPATH=paths))
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        if simulated:
            self.report = done.stderr
        return [float(x) for x in re.findall(r"^loss (\S+)", done.stdout, re.M)]

    def same(self, *arguments, settings=(), cpu=None, steps=STEPS):
        there = self.losses(settings, cpu or arguments, False)
        here = self.losses(settings, arguments, True)
        self.assertEqual((len(here), len(there)), (steps, steps))
        for step, (a, b) in enumerate(zip(here, there)):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-4), f"step {step}: {a} and on the CPU {b}\n{self.report}")
        self.assertRegex(self.report, r"computed by +the simulated instructions\n")

    def test_mnist(self):
        write_pictures(self.root / "data", 160, 16)
        self.same(str(SCRIPTS / "pytorch_examples/mnist/main.py"), "--batch-size", "8", "--test-batch-size", "16",
                  "--epochs", "1", "--log-interval", "5")

    def test_vae(self):
        write_pictures(self.root / "data", 160, 16)
        (self.work / "results").mkdir()
        self.same(str(SCRIPTS / "pytorch_examples/vae/main.py"), "--batch-size", "8", "--epochs", "1")

    def test_regression(self):
        self.same(str(SCRIPTS / "pytorch_examples/regression/main.py"), settings=("--default_device",))

    def test_super_resolution(self):
        from PIL import Image
        for part, count in (("train", 20), ("test", 1)):
            folder = self.work / "dataset" / "BSDS300" / "images" / part
            folder.mkdir(parents=True)
            for i in range(count):
                pixels = torch.randint(0, 256, (260, 270, 3), generator=torch.Generator().manual_seed(i))
                Image.fromarray(pixels.to(torch.uint8).numpy()).resize((265, 258)).save(folder / f"{i}.png")
        self.same(str(SCRIPTS / "pytorch_examples/super_resolution/main.py"), "--upscale_factor", "8", "--accel",
                  "--batchSize", "1", "--nEpochs", "1", "--threads", "0")

    def test_time_sequence(self):
        waves = torch.sin((torch.arange(30.0).double()[None] + 17 * torch.arange(6.0).double()[:, None]) / 20).numpy()
        torch.save(waves, self.work / "traindata.pt")
        self.same(str(SCRIPTS / "pytorch_examples/time_sequence_prediction/train.py"), "--steps", "1",
                  settings=("--default_device",))

    def words(self, *arguments):
        write_words(self.root / "words")
        self.same(str(SCRIPTS / "pytorch_examples/word_language_model/main.py"), "--data", str(self.root / "words"),
                  "--accel", "--emsize", "16", "--nhid", "16", "--batch_size", "4", "--bptt", "5", "--epochs", "1",
                  *arguments)

    def test_words_lstm(self):
        self.words("--nlayers", "2", "--lr", "2")

    def test_words_gru(self):
        self.words("--model", "GRU", "--nlayers", "1", "--tied")

    def test_words_rnn(self):
        self.words("--model", "RNN_TANH", "--nlayers", "1", "--lr", "1")

    # AdamW moves each weight by the rate: with 1 the loss grows to 36, and the last bits of fp32 to 1e-4 of it.
    def test_words_transformer(self):
        self.words("--model", "Transformer", "--nlayers", "1", "--lr", "0.01", "--use-optimizer")

    def test_adder(self):
        self.same(str(SCRIPTS / "minGPT/adder/adder.py"), "--trainer.max_iters=20", "--trainer.batch_size=8",
                  "--trainer.num_workers=0", "--data.ndigit=1", "--trainer.device='xla'",
                  cpu=[str(SCRIPTS / "minGPT/adder/adder.py"), "--trainer.max_iters=20", "--trainer.batch_size=8",
                       "--trainer.num_workers=0", "--data.ndigit=1", "--trainer.device='cpu'"])

    def test_llama(self):
        script = self.work / "llama.py"
        script.write_text(
            "import sys, torch\nfrom model import ModelArgs, Transformer\n"
            "torch.manual_seed(0)\n"
            "m = Transformer(ModelArgs(dim=32, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=50, multiple_of=16,\n"
            "                          max_seq_len=16)).to(sys.argv[1])\n"
            "o = m.configure_optimizers(0.1, 1e-3, (0.9, 0.95), 'xla')\n"
            "for step in range(20):\n"
            "    x = torch.randint(0, 50, (4, 17), generator=torch.Generator().manual_seed(step))\n"
            "    x = x.to(sys.argv[1])\n"
            "    m(x[:, :-1], x[:, 1:].contiguous()); m.last_loss.backward(); o.step()\n"
            "    o.zero_grad(set_to_none=True)\n")
        self.same(str(script), "xla", cpu=[str(script), "cpu"])

    def test_aws_mlp(self):
        write_pictures(self.work / "MNIST_DATA_train", 160, 16)
        self.same(str(SCRIPTS / "aws_mnist_mlp/train.py"), cpu=[str(SCRIPTS / "aws_mnist_mlp/train_cpu.py")])


if __name__ == "__main__":
    unittest.main()
