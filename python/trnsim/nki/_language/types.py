"""nki.language: types, sizes and buffers."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki._state import HBM, PSUM, SBUF

float32, float16 = np.float32, np.float16
int8, int16, int32, uint8, uint16, uint32 = np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32
bool_ = np.bool_
bfloat16, tfloat32, float8_e4m3, float8_e5m2 = (_dtypes.bfloat16, _dtypes.tfloat32, _dtypes.float8_e4m3,
                                                _dtypes.float8_e5m2)


class tile_size:
    pmax = 128
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    psum_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1
    total_available_sbuf_size = 24 * 1024 * 1024 - 128 * 16 * 1024


class constants:
    sbuf_min_align, psum_min_align = 1, 4


class fp32:
    min = float(np.finfo(np.float32).min)
    max = float(np.finfo(np.float32).max)


def finfo(dtype):
    """Limits of a floating-point type, as NumPy's function of that name gives them."""
    kind = np.dtype(dtype)
    if kind in _LIMITS:
        low, high, step = _LIMITS[kind]
        return _Limits(-high, high, low, step)
    return np.finfo(kind)


class _Limits:
    """The members of numpy.finfo that kernels read."""

    def __init__(self, low, high, tiny, eps):
        self.min, self.max, self.tiny, self.eps = low, high, tiny, eps
        self.smallest_normal = tiny


# smallest normal, largest, step above 1: of the formats' bits of exponent and fraction
_LIMITS = {bfloat16: (2.0 ** -126, (2 - 2.0 ** -7) * 2.0 ** 127, 2.0 ** -7),
           tfloat32: (2.0 ** -126, (2 - 2.0 ** -10) * 2.0 ** 127, 2.0 ** -10),
           float8_e4m3: (2.0 ** -6, 240.0, 2.0 ** -3), float8_e5m2: (2.0 ** -14, 57344.0, 2.0 ** -2)}


def sizeinbytes(dtype):
    """Bytes of a number of that type."""
    return _dtypes.size_of(_dtypes.code(dtype))


class Buffer:
    """Where a tensor lies; `place` puts each of its blocks."""

    def __init__(self, name, space, shared=False, place=None):
        self.name, self.space, self.shared, self.place = name, space, shared, place

    def __repr__(self):
        return f"nl.{self.name}"

    def __eq__(self, other):
        """Places of one memory are equal: a tensor knows its memory only."""
        if isinstance(other, Buffer):
            return self.space == other.space and (self.space != HBM or self.shared == other.shared)
        return NotImplemented

    def __hash__(self):
        return hash(self.space)


sbuf, psum = Buffer("sbuf", SBUF), Buffer("psum", PSUM)
hbm, private_hbm, shared_hbm = Buffer("hbm", HBM), Buffer("private_hbm", HBM), Buffer("shared_hbm", HBM, True)
Buffer.sbuf, Buffer.psum, Buffer.private_hbm, Buffer.shared_hbm = sbuf, psum, private_hbm, shared_hbm
