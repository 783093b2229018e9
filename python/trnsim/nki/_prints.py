"""nl.device_print: what a tile holds at that place of the kernel, on stdout, as soon as the kernel has been computed.
Kernels that are timed print nothing: the copies that are printed would be part of the time."""
import numpy as np

from trnsim.nki import _dtypes, _masks
from trnsim.nki import _emit as e
from trnsim.nki._isa.moves import dma_copy
from trnsim.nki._language.moves import store
from trnsim.nki._language.tensors import hbm_tensor
from trnsim.nki._language.types import private_hbm
from trnsim.nki._state import HBM, error, state

_NUMPYS = "fiub"  # kinds of formats that NumPy prints by itself


def noted(prefix, value, mask=None):
    """Keeps the value of now: a copy of it in HBM."""
    if not isinstance(prefix, str):
        raise error("the prefix of device_print is not a string", "give a string, then the tensor")
    if state.prints is None:
        return
    if not e.is_tile(value):
        state.prints.append((prefix, value))
        return
    part = _masks.kept(value, mask)[0] if mask is not None else value
    if part.by_values:
        raise error("device_print of what values index", "copy it first")
    kept = hbm_tensor(list(part.shape) or [1], _dtypes.dtype_of(part.code), private_hbm, "", None)
    if part.space == HBM:
        dma_copy(dst=kept, src=part)
    else:
        store(kept, part)
    state.prints.append((prefix, kept))


def said(prints, memory):
    """Prints what was kept; `memory` gives the array of a view."""
    for prefix, value in prints:
        if e.is_tile(value):
            array = np.array(memory(value))
            value = array if array.dtype.kind in _NUMPYS else array.astype(np.float32)
        print(prefix, value)
