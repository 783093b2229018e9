#!/usr/bin/env python3
"""Writes a golden trajectory anew: ../dinov2_tiny/export.py with a gate in each MLP, as DINOv2's giant has it.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

path = pathlib.Path(__file__).resolve().parent.parent / "dinov2_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("dinov2_export", path)
dinov2 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dinov2)

dinov2.vit.CONFIG.update(use_swiglu_ffn=True, mlp_ratio=3)

if __name__ == "__main__":
    dinov2.vit.main()
