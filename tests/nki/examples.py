"""The kernels of a folder: each computes its reference, and takes no longer than here."""
import os
import runpy
import sys

import numpy as np

from trnsim.nki import _jit

# Microseconds on one NeuronCore: a tenth above what they took when they were written.
BOUNDS = {"vector_add": 77, "matmul_1_tiles": 115, "matmul_2_rows": 98, "matmul_3_blocks": 102, "matmul_4_psum": 94,
          "softmax": 64, "layernorm": 58, "rmsnorm": 40, "rope": 46, "attention": 62, "conv1d": 43, "mamba_scan": 58}
failed = []
for name, bound in BOUNDS.items():
    module = runpy.run_path(os.path.join(sys.argv[1], name + ".py"), run_name="kernel")
    kernel = next(v for v in module.values() if isinstance(v, _jit.Kernel))
    arrays = module["inputs"]()
    compiled = kernel.compile(*arrays)
    got, want = _jit.compute(compiled).astype(np.float64), np.asarray(module["reference"](*arrays), np.float64)
    # fp32: some hundred roundings of 6e-8 add up; bf16 results are rounded once, 4e-3.
    most = 2e-2 if arrays[0].dtype.itemsize == 2 else 1e-5
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    microseconds = compiled.time()["seconds"] * 1e6
    if error > most:
        failed.append(f"{name}: differs by {error:.2g} of the norm")
    if microseconds > bound:
        failed.append(f"{name}: takes {microseconds:.2f} us, more than {bound}")
    print(f"{name} {microseconds:.2f} us {error:.2g}")
print(len(BOUNDS), "kernels")
if failed:
    sys.exit("\n".join(failed))
