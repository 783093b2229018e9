"""nki.isa: where a tile has numbers other than 0."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import isa
from trnsim.nki._emit import ALU, put
from trnsim.nki._isa import modes
from trnsim.nki._newer.emit import DONE, destination
from trnsim.nki._state import SBUF, error

_LANES = 16  # partitions of a core of GpSimdE, which reads and writes the first of them


def nonzero_with_count(dst, src, index_offset=0, padding_val=-1, name=None):
    """In partitions 0, 16, 32, ...: the indices of what is not 0, then padding, then how many there are. Its time is
    that of VectorE, which takes the eight first ones that are left again and again: no cost of GpSimdE's is published.
    """
    if modes.get_nc_version().value < 3:
        raise error("nonzero_with_count exists from NeuronCore-v3 on", "use a machine with Trn2 (--instance_type)")
    dst, src = destination(dst), e.tile(src)
    rows, count = src.partitions, src.cols
    kinds = src.code in (_dtypes.FP32, _dtypes.INT32) and dst.code == _dtypes.INT32
    if src.space != SBUF or dst.space != SBUF or not kinds:
        raise error(f"nonzero_with_count of {src.dtype} to {dst.dtype}", "give float32 or int32, and int32, in SBUF")
    if dst.partitions != rows or dst.cols != count + 1:
        raise error(f"dst has the shape {tuple(dst.shape)}, the result has {(rows, count + 1)}",
                    "give one element more than src has")
    found, order = _in_order(src, rows, count)
    out = e.temp([rows, count + 1], _dtypes.INT32)
    indices = e.combined("sub", count + int(index_offset), order, e.Result(np.float32))
    there = e.combined("gt", order, 0.0, e.Result(np.uint8))
    padding = e.temp([rows, count], _dtypes.FP32)
    put("memset", e.VECTOR, padding, imm=e.number(int(padding_val)))
    put("copy_predicated", e.VECTOR, padding, indices, there)
    e.current().copy(out._cut(1, 0, count), padding)
    put("tensor_reduce", e.VECTOR, out._cut(1, count, 1), found, alu0=ALU["add"])
    for row in range(0, rows, _LANES):
        put("dma_copy", e.SYNC, dst._cut(0, row, 1), out._cut(0, row, 1))
    return DONE


def _in_order(src, rows, count):
    """1 where a number is not 0, and for these `count` less their places, falling; 0 for the others."""
    wide = max(8, (count + 7) // 8 * 8)
    found, places = e.temp([rows, count], _dtypes.FP32), e.temp([rows, count], _dtypes.FP32)
    put("tensor_scalar", e.VECTOR, found, src, 0.0, alu0=ALU["ne"])
    put("iota", e.GPSIMD, places, imm=(float(count), 0.0, -1.0, 0.0))
    keys, order = e.temp([rows, wide], _dtypes.FP32), e.temp([rows, wide], _dtypes.FP32)
    put("memset", e.VECTOR, keys, imm=e.number(0.0))
    put("tensor_tensor", e.VECTOR, keys._cut(1, 0, count), found, places, alu0=ALU["mul"])
    for first in range(0, wide, 8):
        eight = order._cut(1, first, 8)
        e.current().copy(eight, isa.max8(src=keys))
        keys = isa.nc_match_replace8(data=keys, vals=eight, imm=0.0)
    return found, order._cut(1, 0, count)
