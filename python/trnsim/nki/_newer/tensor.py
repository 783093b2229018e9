"""nki.tensor of SDK 2.28: arrays that are known while a kernel is traced, for nl.shared_constant."""
import numpy as np

from trnsim.nki import _dtypes


def identity(n, dtype=np.float32):
    return np.identity(int(n)).astype(_dtypes.dtype_of(_dtypes.code(dtype)))


def zeros(shape, dtype=np.float32):
    return np.zeros(shape, _dtypes.dtype_of(_dtypes.code(dtype)))


def ones(shape, dtype=np.float32):
    return np.ones(shape).astype(_dtypes.dtype_of(_dtypes.code(dtype)))


def full(shape, fill_value, dtype=np.float32):
    return np.full(shape, fill_value).astype(_dtypes.dtype_of(_dtypes.code(dtype)))


def arange(*args, dtype=np.int32):
    return np.arange(*args).astype(_dtypes.dtype_of(_dtypes.code(dtype)))
