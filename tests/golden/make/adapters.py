#!/usr/bin/env python3
"""Trains adapters beside the tiny model of a family: adapters.py FAMILY_lora FOLDER. `./dev golden FAMILY_lora` calls it.
Layers are those that PEFT adapts by default, and all that a file has as one with others."""
import sys

import draws
import encoder
import plain
import t5

# By family: the module that trains it, and the layers.
ADAPTED = {"bert": (encoder, ["query", "value"]),  # and the classifier as a whole
           "t5": (t5, ["q", "v", "wi"]),
           "gpt_neox": (plain, ["query_key_value", "dense_4h_to_h"])}


def main(name, folder):
    family = name.removesuffix("_lora")
    module, targets = ADAPTED[family]
    adapter = {"r": 3, "lora_alpha": 6, "target_modules": targets}
    module.make(family, folder, adapter=lambda weights: draws.with_factors(adapter, weights, family))


if __name__ == "__main__":
    main(*sys.argv[1:])
