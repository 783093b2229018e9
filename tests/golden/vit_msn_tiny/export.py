#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' ViTMSNForImageClassification, by ../vit_tiny/export.py.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

path = pathlib.Path(__file__).resolve().parent.parent / "vit_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("vit_export", path)
vit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vit)

del vit.CONFIG["encoder_stride"]
vit.CONFIG.update(architectures=["ViTMSNForImageClassification"], model_type="vit_msn", layer_norm_eps=1e-6)

if __name__ == "__main__":
    vit.main()
