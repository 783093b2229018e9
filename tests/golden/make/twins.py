#!/usr/bin/env python3
"""Trains the same models on the same data with trnsim and with PyTorch, and compares what they have learnt.

Usage: twins.py TRNSIM [SEEDS [FOLDER]]. `./dev golden --twins` calls it. A golden trajectory shows that a step is right;
this shows that data, labels, batches, schedule and scores are, from the files to the accuracy: pictures in MNIST's files
to a ViT, and sentences in CoNLL's to a BERT that labels words. Both begin with the same weights, and each shuffles by
itself: the mean accuracies over the seeds have to be within the standard error of their difference, doubled."""
import importlib.util
import json
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

import torch
from torch.nn import functional

import common
import encoder

HERE = pathlib.Path(__file__).resolve().parent
BATCH, EPOCHS, RATE = 32, 4, 3e-3
TRAIN, TEST = 2048, 1024
# The digits on a grid of 5 x 7, a row in five bits.
DIGITS = ("0e11131519110e", "040c040404040e", "0e11010204081f", "1f02040201110e", "02060a121f0202",
          "1f101e0101110e", "0608101e11110e", "1f010204080808", "0e11110e11110e", "0e11110f01020c")
SIDE, PATCH, MEAN, DEVIATION = 28, 7, 0.1307, 0.3081  # of MNIST
NOISE = 0.4  # of the pixels: at this one a ViT of this size errs often enough for a difference to show
PEOPLE, PLACES, FIRMS, BOTH = 40, 40, 30, 40  # names; BOTH: of a person or of a place, as the words around them say
WORDS, LENGTH, WRONG = 60, 16, 0.05


def vit_module():
    """tests/golden/vit_tiny/export.py, of this task's sizes."""
    spec = importlib.util.spec_from_file_location("vit", HERE.parent / "vit_tiny" / "export.py")
    vit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(vit)
    labels = {str(i): str(i) for i in range(10)}
    vit.CONFIG.update(image_size=SIDE, patch_size=PATCH, num_channels=1, id2label=labels,
                      label2id={name: int(i) for i, name in labels.items()})
    vit.IMAGE, vit.PATCH, vit.CHANNELS, vit.LABELS = SIDE, PATCH, 1, 10
    return vit


def pictures(count, draw):
    """Digits three pixels a cell, about the middle of the picture, under noise: bytes [count, 28, 28] and labels."""
    images, labels = torch.zeros(count, SIDE, SIDE), [draw.randrange(10) for _ in range(count)]
    for image, label in zip(images, labels):
        rows = bytes.fromhex(DIGITS[label])
        cells = torch.tensor([[float(row >> (4 - x) & 1) for x in range(5)] for row in rows])
        big = cells.repeat_interleave(3, 0).repeat_interleave(3, 1)
        top, left = (SIDE - 21) // 2 + draw.randint(-1, 1), (SIDE - 15) // 2 + draw.randint(-1, 1)
        image[top:top + 21, left:left + 15] = big
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(draw.randrange(2 ** 31)))
    return ((images + NOISE * noise).clamp(0, 1) * 255).to(torch.uint8), torch.tensor(labels)


def write_mnist(folder, name, images, labels):
    """The format of yann.lecun.com/exdb/mnist: big-endian sizes, then bytes."""
    header = struct.pack(">4i", 0x803, len(images), SIDE, SIDE)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(header + images.numpy().tobytes())
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, len(labels)) + bytes(labels.tolist()))


class Pictures:
    name, workload, score = "pictures", "vit_mnist", "accuracy"

    def __init__(self, folder, draw):
        self.vit = vit_module()
        self.data = {}
        for split, name, count in (("train", "train", TRAIN), ("test", "t10k", TEST)):
            images, labels = pictures(count, draw)
            write_mnist(folder, name, images, labels)
            self.data[split] = ({"pixels": (images.float() / 255 - MEAN)[:, None] / DEVIATION}, labels)
        self.config = self.vit.CONFIG

    def weights(self):
        return self.vit.first_weights()

    def logits(self, weights, batch):
        return self.vit.forward(weights, batch["pixels"])


def sentence(draw):
    """Words with their labels. What stands before a name of both kinds tells which it is; some labels are wrong."""
    kinds = {"PER": ("said", PEOPLE, "per"), "LOC": ("in", PLACES, "loc"), "ORG": ("by", FIRMS, "org")}
    out = []
    while len(out) < LENGTH - 2:
        out.append((f"w{draw.randrange(WORDS)}", "O"))
        if draw.random() < 0.4:
            label = draw.choice(sorted(kinds))
            before, count, stem = kinds[label]
            out.append((before, "O"))
            both = label != "ORG" and draw.random() < 0.5
            word = f"both{draw.randrange(BOTH)}" if both else f"{stem}{draw.randrange(count)}"
            told = draw.choice(sorted(kinds)) if draw.random() < WRONG else label
            out.append((word, "B-" + told))
            if draw.random() < 0.3:
                out.append((f"{stem}{draw.randrange(count)}", "I-" + told))
    return out[:LENGTH - 2]


class Sentences:
    name, workload, score = "words", "bert_emotion", "accuracy"
    labels = sorted(["O"] + [f"{b}-{kind}" for b in "BI" for kind in ("PER", "LOC", "ORG")])

    def __init__(self, folder, draw):
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "said", "in", "by"]
        for stem, count in (("w", WORDS), ("per", PEOPLE), ("loc", PLACES), ("org", FIRMS), ("both", BOTH)):
            words += [f"{stem}{i}" for i in range(count)]
        self.vocab, ids = words, {word: i for i, word in enumerate(words)}
        self.data = {}
        for split, count in (("train", TRAIN), ("test", TEST)):
            rows = [sentence(draw) for _ in range(count)]
            text = "".join("".join(f"{word} X X {label}\n" for word, label in row) + "\n" for row in rows)
            (folder / f"{split}.conll").write_text("-DOCSTART- -X- -X- O\n\n" + text)
            tokens = torch.tensor([[2] + [ids[word] for word, _ in row] + [3] for row in rows])
            labels = torch.tensor([[-100] + [self.labels.index(label) for _, label in row] + [-100] for row in rows])
            self.data[split] = ({"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}, labels)
        vars(encoder).update(VOCAB=len(words), H=32, LAYERS=2, HEADS=4, FFN=64, LABELS=len(self.labels))
        self.config = {**encoder.FAMILIES["bert"], "architectures": ["BertForTokenClassification"],
                       "vocab_size": len(words), "hidden_size": 32, "intermediate_size": 64,
                       "id2label": {str(i): label for i, label in enumerate(self.labels)},
                       "label2id": {label: i for i, label in enumerate(self.labels)}}

    def weights(self):
        return common.draw(encoder.shapes("bert", "tokens", self.config), 0.05)

    def logits(self, weights, batch):
        return encoder.forward(weights, batch, "bert", "tokens", self.config)


def by_pytorch(task, weights):
    """Transformers' recipe: AdamW, linear to 0, batches of a new shuffling each epoch. Returns the accuracy."""
    weights = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)
    inputs, labels = task.data["train"]
    steps = EPOCHS * TRAIN // BATCH
    order = torch.cat([torch.randperm(TRAIN) for _ in range(EPOCHS)]).view(steps, BATCH)
    for step, rows in enumerate(order):
        optimizer.param_groups[0]["lr"] = RATE * (steps - step) / steps
        logits = task.logits(weights, {name: tensor[rows] for name, tensor in inputs.items()})
        loss = functional.cross_entropy(logits.flatten(0, -2), labels[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
    inputs, labels = task.data["test"]
    with torch.no_grad():
        right = task.logits(weights, inputs).argmax(-1) == labels
    return right[labels >= 0].float().mean().item()


def by_trnsim(trnsim, task, folder, model, seed):
    """The accuracy that `trnsim run` writes into result.json."""
    run = folder / f"{task.name}_{seed}"
    flags = {"--model_id": model, "--dataset_path": folder, "--mode": "numeric",
             "--numerics": "fp32", "--auto_cast": "none",
             "--per_device_train_batch_size": BATCH, "--num_train_epochs": EPOCHS, "--learning_rate": RATE,
             "--weight_decay": 0, "--max_grad_norm": 1, "--lr_scheduler_type": "linear", "--warmup_ratio": 0,
             "--nproc_per_node": 1, "--max_train_samples": TRAIN, "--max_eval_samples": TEST, "--seed": seed,
             "--output_dir": run}
    if task.name == "words":
        flags |= {"--task": "token-classification", "--max_length": LENGTH}
    command = [trnsim, "run", task.workload] + [str(word) for flag in flags.items() for word in flag]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads((run / "result.json").read_text())["metrics"]["epochs"][-1]["accuracy"]


def write_model(task, folder, weights):
    folder.mkdir()
    common.write_model(folder, task.config, weights, None)
    if task.name == "words":
        (folder / "vocab.txt").write_text("".join(word + "\n" for word in task.vocab))


def compare(trnsim, kind, seeds, folder):
    """Whether the twins agree; prints a line."""
    folder.mkdir(parents=True)
    task = kind(folder, random.Random(1))
    ours, theirs = [], []
    for seed in range(1, seeds + 1):
        torch.manual_seed(seed)
        weights = task.weights()
        write_model(task, folder / f"model_{seed}", weights)
        ours.append(by_trnsim(trnsim, task, folder, folder / f"model_{seed}", seed))
        theirs.append(by_pytorch(task, weights))
    apart = statistics.mean(ours) - statistics.mean(theirs)
    error = ((statistics.variance(ours) + statistics.variance(theirs)) / seeds) ** 0.5
    right = abs(apart) <= 2 * error
    print(f"{task.name}: trnsim {statistics.mean(ours):.4f}, PyTorch {statistics.mean(theirs):.4f} over {seeds} seeds: "
          f"{apart / error:+.2f} standard errors apart{'' if right else ': they disagree'}"
          f" ({', '.join(f'{a:.4f} {b:.4f}' for a, b in zip(ours, theirs))})")
    return right


def main():
    torch.set_num_threads(1)
    trnsim, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else temporary)
        agree = [compare(trnsim, kind, seeds, folder / kind.name) for kind in (Pictures, Sentences)]
    sys.exit(0 if all(agree) else 1)


if __name__ == "__main__":
    main()
