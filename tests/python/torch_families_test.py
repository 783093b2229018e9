"""Plain PyTorch modules train as the families do: in their time, with PyTorch's losses and weights."""
import json
import os
import pathlib
import re
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
SCRIPT = """
import sys, torch, torch_xla.core.xla_model as xm
sys.path.insert(0, HERE)
import plain_models
def ids(*shape, most=WORDS): return torch.randint(0, most, shape, generator=g)
torch.manual_seed(0)
model = plain_models.NAME(**SIZES).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(STEPS):
    g = torch.Generator().manual_seed(step)
    optimizer.zero_grad()
    loss = model(*[x.to(DEVICE) for x in DATA])
    loss.backward()
    optimizer.step()
    xm.mark_step()
    if WEIGHTS: print("loss", repr(loss.item()))
if WEIGHTS: torch.save({name: p.detach().cpu() for name, p in model.named_parameters()}, WEIGHTS)
"""
DATA = {"Bert": "(ids(B, T), torch.ones(B, T, dtype=torch.long), torch.zeros(B, T, dtype=torch.long), ids(B, most=2))",
        "Vit": "(torch.randn(B, 3, T, T, generator=g), ids(B, most=2))", "Llama": "(ids(B, T),)",
        "T5": "(ids(B, T), torch.ones(B, T, dtype=torch.long), ids(B, T), ids(B, T))"}
SMALL = {"Bert": dict(words=50, size=24, layers=2, count=3, wide=32, places=16),
         "Vit": dict(size=24, layers=2, count=3, wide=32, picture=12, patch=4),
         "Llama": dict(words=50, size=24, layers=2, count=3, wide=32, tokens=9),
         "T5": dict(words=50, size=24, layers=2, count=3, wide=32)}
# The same models by config.json: the modules are held against their training steps.
ENCODER = dict(hidden_size=768, num_hidden_layers=4, num_attention_heads=12, intermediate_size=3072, hidden_act="gelu",
               hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=2)
CONFIGS = {
    "Bert": dict(ENCODER, model_type="bert", architectures=["BertForSequenceClassification"], vocab_size=30522,
                 max_position_embeddings=512, type_vocab_size=2, layer_norm_eps=1e-12),
    "Vit": dict(ENCODER, model_type="vit", architectures=["ViTForImageClassification"], layer_norm_eps=1e-6,
                image_size=224, patch_size=16, num_channels=3, qkv_bias=True, num_labels=10),
    "Llama": dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=32000, hidden_size=1024,
                  num_hidden_layers=4, num_attention_heads=16, num_key_value_heads=16, intermediate_size=2816,
                  hidden_act="silu", max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=10000.0,
                  tie_word_embeddings=False),
    "T5": dict(model_type="t5", architectures=["T5ForConditionalGeneration"], vocab_size=32128, d_model=512, d_kv=64,
               d_ff=2048, num_layers=4, num_decoder_layers=4, num_heads=8, relative_attention_num_buckets=32,
               relative_attention_max_distance=128, dropout_rate=0.0, layer_norm_epsilon=1e-6,
               feed_forward_proj="relu", tie_word_embeddings=True, decoder_start_token_id=0, pad_token_id=0,
               eos_token_id=1)}
JOB = """name = "plain"
text = "one of the four"
model = "{model}"
small_model = "{small}"
samples = {{ value = 1000, source = "made up" }}
eval_samples = {{ value = 0, source = "made up" }}
labels = {{ value = {labels}, source = "made up" }}
[options]
per_device_train_batch_size = "{batch}"
{lengths}
num_train_epochs = "1"
numerics = "fp32"
max_grad_norm = "0"
nproc_per_node = "1"
instance_type = "trn1.2xlarge"
"""


@unittest.skipIf(torch is None, "no PyTorch: install python3-torch")
class Families(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_module(self, settings, words):
        text = SCRIPT
        for name, value in words.items():
            text = re.sub(rf"\b{name}\b", lambda _, v=value: str(v), text)
        path = self.root / "script.py"
        path.write_text(text)
        command = [sys.executable, "-B", "-m", "trnsim.torch", *settings, str(path)]
        done = forked.run(command, env=dict(os.environ, NEURON_CC_FLAGS="--auto-cast=" + words["CAST"]))
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done

    def words(self, name, **more):
        return dict({"DATA": DATA[name], "HERE": repr(str(HERE)), "NAME": name, "WORDS": 50, "B": 3, "T": 9}, **more)

    def learns(self, name):
        """Ten steps, on the device and on the CPU."""
        got = {}
        for device in ("xla", "cpu"):
            file = self.root / f"{device}.pt"
            words = self.words(name, DEVICE=repr(device), SIZES=repr(SMALL[name]), STEPS=10, WEIGHTS=repr(str(file)),
                               CAST="none", T=12 if name == "Vit" else 9)
            done = self.run_module(["--numeric"], words)
            got[device] = [float(x) for x in re.findall(r"loss (\S+)", done.stdout)], torch.load(file)
        (here, weights), (there, expected) = got["xla"], got["cpu"]
        self.assertEqual(len(here), 10)
        for a, b in zip(here, there):
            self.assertLess(abs(a - b), 1e-5 * abs(b))
        for key, b in expected.items():
            if key.endswith("k.bias"):  # probabilities do not depend on it: its gradient is the last bits' alone
                continue
            self.assertLess((weights[key] - b).abs().max(), 1e-4 * max(b.abs().max(), 1), key)

    def family_milliseconds(self, name, batch, lengths):
        (self.root / "model").mkdir()
        (self.root / "model" / "config.json").write_text(json.dumps(CONFIGS[name]))
        small = {"Bert": "bert-small", "Vit": "vit-mnist", "Llama": "llama-small", "T5": "t5-tiny"}[name]
        labels = CONFIGS[name].get("num_labels", 0)
        job = self.root / "job.toml"
        job.write_text(JOB.format(model=self.root / "model", small=small, labels=labels, batch=batch, lengths=lengths))
        run = self.root / "family"
        command = [os.environ["TRNSIM_BINARY"], "run", str(job), "--mode", "timed", "--output_dir", str(run)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return 1e3 * json.loads((run / "result.json").read_text())["job"]["device_step_seconds"]

    def as_fast(self, name, batch, tokens, lengths):
        if "TRNSIM_BINARY" not in os.environ:
            self.skipTest("TRNSIM_BINARY names no binary")
        words = self.words(name, DEVICE="'xla'", SIZES="{}", STEPS=2, WEIGHTS="None", CAST="matmult", B=batch, T=tokens,
                           WORDS=30000)
        done = self.run_module(["--timed", "--output_dir", str(self.root / "out")], words)
        own = float(re.search(r"graph1 .* ([0-9.]+) ms, compiler", done.stderr)[1])
        family = self.family_milliseconds(name, batch, lengths)
        self.assertLess(abs(own / family - 1), 0.05, f"{name}: {own} ms, the family {family}")

    def test_bert(self):
        self.learns("Bert")
        self.as_fast("Bert", 8, 128, 'max_length = "128"')

    def test_llama(self):
        self.learns("Llama")
        self.as_fast("Llama", 1, 512, 'max_length = "512"')

    def test_vit(self):
        self.learns("Vit")
        self.as_fast("Vit", 8, 224, "")

    def test_t5(self):
        self.learns("T5")
        self.as_fast("T5", 8, 128, 'max_length = "128"\nmax_target_length = "128"')


if __name__ == "__main__":
    unittest.main()
