"""nki.isa.topk: the largest numbers of each 16 partitions. Source: its documentation, SDK 2.32, and 2.33, which says
which partitions get the results."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import isa
from trnsim.nki._emit import put
from trnsim.nki._language.tensors import hbm_tensor
from trnsim.nki._language.types import private_hbm
from trnsim.nki._newer.emit import DONE, destination
from trnsim.nki._state import SBUF, error

_LANES = 16  # partitions of a core of GpSimdE
_EIGHT = 8   # numbers that VectorE finds at a time
_BEHIND = -3.4028234663852886e38  # in place of numbers that were found


def topk(val_dst, idx_dst, src, n, sorted=False, name=None):
    """Numbers run along the 16 partitions of a group first, then along the row; results do so too, the largest last,
    or first where they are `sorted`.
    Its time is that of VectorE, which takes the eight largest that are left again and again, and of DMA, which brings
    a group to one row and back: GpSimdE's own way is not published."""
    values, places, src = destination(val_dst), destination(idx_dst), e.tile(src)
    k = values.cols
    _check(values, places, src, n)
    rows = _gathered(src, -(-n // _LANES))
    keys = e.temp([src.partitions // _LANES, n], _dtypes.FP32)
    e.current().copy(keys, rows._cut(1, 0, n))
    found, where = _largest(keys, k)
    if not sorted:
        back = e.temp([keys.partitions, k], _dtypes.UINT32)  # the largest last
        put("iota", e.GPSIMD, back, imm=(float(k - 1), 0.0, -1.0, 0.0))
    for to, row in ((values, found), (places, where)):
        turned = row if sorted else isa.nc_n_gather(row, back)
        typed = e.temp(turned.shape, to.code)
        e.current().copy(typed, turned)
        _spread(to, typed)
    return DONE


def _check(values, places, src, n):
    bf16 = src.code == values.code == _dtypes.BF16 and places.code == _dtypes.UINT32
    k, parts = values.cols, src.partitions
    rules = (
        (bf16, f"topk of {src.dtype} to {values.dtype} and {places.dtype}", "give bfloat16, bfloat16 and uint32"),
        (src.space == values.space == places.space == SBUF, "topk of a tile in PSUM", "copy it to SBUF first"),
        (_EIGHT <= n < 65536 and 1 <= k <= n and k < 32768, f"the {k} largest of {n}", "give 8 <= n, 1 <= k <= n"),
        (src.cols * _LANES >= n, f"{n} numbers in {src.cols} columns", f"give a column for each {_LANES}"),
        (parts % _LANES == 0, f"topk of {parts} partitions", f"give a multiple of {_LANES}"),
        (values.partitions == places.partitions == parts and places.cols == k,
         f"results in {tuple(values.shape)} and {tuple(places.shape)}", f"give both [{parts}, k]"))
    for holds, what, fix in rules:
        if not holds:
            raise error(what, fix)


def _gathered(tile, columns):
    """Each 16 partitions as one row: a row has the numbers of column 0, then those of column 1, ..."""
    groups, length = tile.partitions // _LANES, columns * _LANES
    memory = hbm_tensor([groups, length], _dtypes.dtype_of(tile.code), private_hbm, "", None)
    for g in range(groups):
        snake = memory._patterned([(1, _LANES), (_LANES, columns)], g * length)
        put("dma_copy", e.SYNC, snake, tile._cut(0, g * _LANES, _LANES)._cut(1, 0, columns))
    rows = e.temp([groups, length], tile.code)
    put("dma_copy", e.SYNC, rows, memory)
    return rows


def _spread(tile, rows):
    """The other way round: number j of a row goes to partition j % 16, column j // 16."""
    groups, length = rows.shape
    memory = hbm_tensor([groups, length], _dtypes.dtype_of(rows.code), private_hbm, "", None)
    put("dma_copy", e.SYNC, memory, rows)
    for g in range(groups):
        to = tile._cut(0, g * _LANES, _LANES)
        full, rest = divmod(length, _LANES)
        if full:
            put("dma_copy", e.SYNC, to._cut(1, 0, full), memory._patterned([(1, _LANES), (_LANES, full)], g * length))
        if rest:
            last = memory._patterned([(1, rest), (1, 1)], g * length + full * _LANES)
            put("dma_copy", e.SYNC, to._cut(0, 0, rest)._cut(1, full, 1), last)


def _largest(keys, k):
    """The k largest numbers of each row and their places, the largest first."""
    wide = -(-k // _EIGHT) * _EIGHT
    found, where = (e.temp([keys.partitions, wide], c) for c in (_dtypes.FP32, _dtypes.UINT32))
    for first in range(0, wide, _EIGHT):
        eight, at = found._cut(1, first, _EIGHT), where._cut(1, first, _EIGHT)
        e.current().copy(eight, isa.max8(src=keys))
        keys = isa.nc_match_replace8(data=keys, vals=eight, imm=np.float32(_BEHIND), dst_idx=at)
    return found._cut(1, 0, k), where._cut(1, 0, k)
