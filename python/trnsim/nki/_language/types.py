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


class Buffer:
    """Where a tensor lies; `place` puts each of its blocks."""

    def __init__(self, name, space, shared=False, place=None):
        self.name, self.space, self.shared, self.place = name, space, shared, place

    def __repr__(self):
        return f"nl.{self.name}"


sbuf, psum = Buffer("sbuf", SBUF), Buffer("psum", PSUM)
hbm, private_hbm, shared_hbm = Buffer("hbm", HBM), Buffer("private_hbm", HBM), Buffer("shared_hbm", HBM, True)
