#!/usr/bin/env python3
"""Trains GPT-2s and Vision Transformers of any size: the exports of gpt_tiny and vit_tiny with other constants.
gpt.py gpt_lamb FOLDER trains a GPT-2 with LAMB, whose ratio is one for queries, keys and values."""
import importlib.util
import pathlib
import sys

import torch

import common

GOLDEN = pathlib.Path(__file__).resolve().parent.parent


def exporter(name):
    """A copy of a folder's export.py of its own, so that its constants may change."""
    spec = importlib.util.spec_from_file_location(name + "_export", GOLDEN / name / "export.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_gpt(folder, seed, changes, sizes, **drawn):
    """`changes`: of the config; `sizes`: BATCH, SEQ."""
    gpt, recipe = exporter("gpt_tiny"), drawn["recipe"]
    gpt.CONFIG.update(changes, initializer_range=drawn["deviation"])
    vars(gpt).update(sizes, STEPS=common.STEPS, H=gpt.CONFIG["n_embd"], HEADS=gpt.CONFIG["n_head"],
                     LAYERS=gpt.CONFIG["n_layer"])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    weights, data = gpt.first_weights(), gpt.batches()

    def loss_of(w, batch):
        logits = gpt.forward(w, batch["input_ids"])
        flat, labels = logits[:, :-1].reshape(-1, logits.shape[-1]), batch["labels"][:, 1:].reshape(-1)
        return logits, torch.nn.functional.cross_entropy(flat, labels, label_smoothing=recipe["smoothing"])

    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, gpt.CONFIG, weights, data, loss_of, recipe, adapter)


def make_vit(family, folder, seed, changes, sizes, **drawn):
    """`changes`: of the config, REGISTERS among them; `sizes`: BATCH, LABELS."""
    relative, recipe = exporter(family + "_tiny"), drawn["recipe"]
    # Where the model is: some exports change another one's constants.
    model = next((getattr(relative, name) for name in ("dinov2", "dinov3") if hasattr(relative, name)), relative)
    vit = getattr(model, "vit", model)
    names = {str(i): f"LABEL_{i}" for i in range(sizes["LABELS"])}
    labels = {"id2label": names, "label2id": {name: int(i) for i, name in names.items()}}
    c = vit.CONFIG.get("vision_config", vit.CONFIG)
    vit.CONFIG.update(labels)
    c.update(changes, initializer_range=drawn["deviation"])
    if "num_register_tokens" in c:
        model.REGISTERS = c["num_register_tokens"]
    vars(vit).update(sizes, STEPS=common.STEPS, H=c["hidden_size"], FFN=c.get("intermediate_size"),
                     HEADS=c["num_attention_heads"], IMAGE=c["image_size"], PATCH=c["patch_size"],
                     CHANNELS=c["num_channels"])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    weights, data = vit.first_weights(), vit.batches()

    def loss_of(w, batch):
        logits = vit.forward(w, batch["pixel_values"].to(next(iter(w.values())).dtype))
        return logits, torch.nn.functional.cross_entropy(logits, batch["labels"], label_smoothing=recipe["smoothing"])

    adapter = drawn["adapter"](weights) if drawn.get("adapter") else None
    common.train(folder, vit.CONFIG, weights, data, loss_of, recipe, adapter)


if __name__ == "__main__":
    assert sys.argv[1] == "gpt_lamb", sys.argv[1]
    make_gpt(pathlib.Path(sys.argv[2]), 1, {"n_embd": 16}, {}, deviation=0.1,
             recipe={**common.OTHER, "optimizer": "LAMB", "rate": 3e-3})
