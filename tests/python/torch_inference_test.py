"""Convolution networks on Inf2 against the vendor's published throughput: examples/torch/infer.py, the table's rows."""
import csv
import pathlib
import re
import sys
import tempfile
import unittest

import forked

try:
    import torchvision  # noqa: whether it is there
except ImportError:
    torchvision = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
WORST, MEAN, MOST_BATCH = 0.45, 0.20, 8  # larger batches take as long again as all others


def rows():
    """Published seconds of a call on one core, by model and batch. A single worker makes the rows of one picture, and
    one on each of the two cores the others."""
    with open(ROOT / "validation/tables/inference_inf2.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            batch = int(row["micro_batch"] or 0)
            if re.fullmatch(r"(resnet|vgg)\d+", row["model"]) and batch <= MOST_BATCH:
                yield row["model"], batch, batch * (1 if batch == 1 else 2) / float(row["value"])


@unittest.skipIf(torchvision is None, "no torchvision: install python3-torchvision")
class Inference(unittest.TestCase):
    def seconds(self, model, batch):
        with tempfile.TemporaryDirectory() as folder:
            done = forked.run([sys.executable, "-B", "-m", "trnsim.torch", "--timed", "--instance_type", "inf2.xlarge",
                               "--output_dir", folder, str(ROOT / "examples/torch/infer.py"), "--model", model,
                               "--batch", str(batch), "--calls", "2"], cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        number, unit = re.search(r"^a step +(\S+) (us|ms|s):", done.stderr + done.stdout, re.M).groups()
        return float(number) * UNITS[unit]

    def test_published_rows(self):
        errors = {}
        for model, batch, published in rows():
            errors[model, batch] = self.seconds(model, batch) / published - 1
        print({key: f"{100 * error:+.0f} %" for key, error in errors.items()})
        self.assertGreaterEqual(len(errors), 6)
        self.assertLess(max(map(abs, errors.values())), WORST, errors)
        self.assertLess(sum(map(abs, errors.values())) / len(errors), MEAN, errors)


if __name__ == "__main__":
    unittest.main()
