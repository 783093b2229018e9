#!/usr/bin/env python3
"""Writes a golden trajectory anew: transformers' Dinov2WithRegistersForImageClassification, by
../dinov2_tiny/export.py with tokens behind the first that have no positions and that no head reads.

Usage: python3 export.py FOLDER
"""
import importlib.util
import pathlib

path = pathlib.Path(__file__).resolve().parent.parent / "dinov2_tiny" / "export.py"
spec = importlib.util.spec_from_file_location("dinov2_export", path)
dinov2 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dinov2)

REGISTERS = 3
dinov2.MODEL = "dinov2_with_registers."
dinov2.vit.CONFIG.update(architectures=["Dinov2WithRegistersForImageClassification"],
                         model_type="dinov2_with_registers", num_register_tokens=REGISTERS)
dinov2.REGISTERS = REGISTERS

if __name__ == "__main__":
    dinov2.vit.main()
