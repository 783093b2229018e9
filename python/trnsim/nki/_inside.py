"""Names of the SDK's own modules that published kernels use: in annotations, and for the kinds of tensors."""
import numpy as np

from trnsim import _core
from trnsim.nki._jit import Kernel
from trnsim.nki.language import nc  # noqa: F401

TileIndex = _core.Affine
local_tile = KernelHBMTensor = TensorRef = _core.View
GenericKernel, nki_dtype, VNC = Kernel, np.dtype, nc
