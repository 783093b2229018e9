#!/usr/bin/env python3
"""Writes a golden trajectory anew: ../vit_tiny/export.py with a second special token, as transformers'
DeiTForImageClassification has it, whose head does not read it.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

path = pathlib.Path(__file__).resolve().parent.parent / "vit_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("vit_export", path)
vit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vit)

vit.CONFIG.update(model_type="deit", architectures=["DeiTForImageClassification"])
vit.MODEL, vit.SPECIALS = "deit", ["cls_token", "distillation_token"]
vit.CLASSIFIERS = ["classifier"]

if __name__ == "__main__":
    vit.main()
