#!/usr/bin/env python3
"""Writes a golden trajectory anew: ../dinov3_tiny/export.py with gates, and without biases of queries and values, as
the largest DINOv3 has them.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

path = pathlib.Path(__file__).resolve().parent.parent / "dinov3_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("dinov3_export", path)
dinov3 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dinov3)

dinov3.CONFIG.update(use_gated_mlp=True, hidden_act="silu", query_bias=False, value_bias=False)

if __name__ == "__main__":
    dinov3.vit.main()
