"""Picture models on Inf2 against the vendor's published throughput: all rows of convolution networks and ViT that the
table has, by examples/torch/infer.py. `docs/your_script.md` shows the same figures."""
import csv
import pathlib
import re
import sys
import tempfile
import unittest

import forked

if forked.is_there("torchvision"):
    forked.ALSO.append("torchvision")

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
WORST, MEAN = 0.45, 0.20
# Drawing 138 million weights takes longer than all else, and times do not depend on them: they stay as they are made.
SCRIPT = """
import runpy, sys, torch
def kept(tensor, *_, **__):
    return tensor
torch.Tensor.uniform_ = torch.Tensor.normal_ = kept
sys.argv.pop(0)
sys.path.insert(0, EXAMPLES)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
NAMES = {"UNet": "unet", "google/vit-base-patch16-224": "vit_b_16"}


def rows():
    """(model, batch, whether the host works while the core does, published milliseconds of a call on one core)."""
    with open(ROOT / "validation/tables/inference_inf2.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            model = NAMES.get(row["model"], row["model"])
            if not re.fullmatch(r"(resnet|vgg)\d+|unet|vit_b_16", model):
                continue
            batch, at_once, cores = int(row["micro_batch"]), int(row["at_once"]), int(row["cores"])
            yield model, batch, at_once > cores, 1e3 * batch * min(at_once, cores) / float(row["value"])


@unittest.skipUnless(forked.is_there("torchvision"), "no torchvision: install python3-torchvision")
class Inference(unittest.TestCase):
    def milliseconds(self, model, batch, overlapped):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(SCRIPT.replace("EXAMPLES", repr(str(ROOT / "examples/torch"))))
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--timed", "--instance_type", "inf2.xlarge",
                               "--output_dir", folder, str(path), str(ROOT / "examples/torch/infer.py"), "--model",
                               model, "--batch", str(batch), "--calls", "2"], cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = re.search(r"^a step +(\S+) (us|ms|s): device (\S+) (us|ms|s), host (\S+) (us|ms|s) ",
                          done.stderr + done.stdout, re.M).groups()
        step, device, host = (float(number) * UNITS[unit] for number, unit in zip(found[::2], found[1::2]))
        return max(device, host) if overlapped else step

    def test_published_rows(self):
        page = (ROOT / "docs/your_script.md").read_text(encoding="utf-8")
        errors, lines = {}, []
        for model, batch, overlapped, published in rows():
            here = self.milliseconds(model, batch, overlapped)
            errors[model, batch] = error = here / published - 1
            lines.append(f"| {model} | {batch} | {published:.2f} | {here:.2f} | {100 * error:+.0f} % |")
        mean, worst = sum(map(abs, errors.values())) / len(errors), max(map(abs, errors.values()))
        print("\n".join(sorted(lines)), f"mean {100 * mean:.1f} %, worst {100 * worst:.1f} %", sep="\n")
        self.assertEqual(len(errors), 14)
        self.assertLess(worst, WORST, errors)
        self.assertLess(mean, MEAN, errors)
        self.assertEqual([line for line in lines if line not in page], [], "docs/your_script.md has other figures")


if __name__ == "__main__":
    unittest.main()
