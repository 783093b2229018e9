"""Scripts that use torch_xla, as tests of its names and of PyTorch's rules run them, and how these are refused."""
import pathlib
import sys
import tempfile
import unittest

import forked

HEAD = """
import os, sys, torch, torch.nn as nn, torch_xla, torch_xla.core.xla_model as xm, torch_xla.debug.metrics as met
import torch_xla.core.functions as xf, torch_xla.utils.utils as xu, torch_xla.debug.profiler as xp
import torch_xla.distributed.parallel_loader as pl, torch_xla.distributed.xla_multiprocessing as xmp
d = xm.xla_device()
def refused(call, kind, words=""):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        sys.exit(f"no error: {words}")
"""


class Scripts(unittest.TestCase):
    def ran(self, script, *settings, mode="--numeric"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(HEAD + script)
            return forked.run([sys.executable, "-B", "-m", "trnsim.torch", mode, "--output_dir", folder + "/out",
                               *settings, str(path)], cwd=folder)

    def runs(self, script, *settings):
        done = self.ran(script, *settings)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-3000:])
        return done
