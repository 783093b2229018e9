"""PyTorch training scripts, unchanged, on simulated cores: `python3 -m trnsim.torch train.py ...`.
See docs/your_script.md."""
