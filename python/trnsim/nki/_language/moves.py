"""nki.language: moving data between HBM and the chip, and on it."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _places
from trnsim.nki._dtypes import code, is_integer
from trnsim.nki._emit import is_tile, put, temp, tile
from trnsim.nki._state import HBM, PSUM, current, error, state


def load(src, *, mask=None, dtype=None, mode=None):
    """A tile in SBUF with what lies in HBM. `mode`: what an index that names nothing does, a nisa.oob_mode."""
    if not is_tile(src) or src.space != HBM:
        raise error("nl.load reads HBM", "copy tiles with nl.copy")
    shape = list(src.shape) if src.ndim > 1 else [src.shape[0] if src.ndim else 1, 1]
    out = temp(shape, code(dtype, src.code))
    transfer(out, src, mask, skip=_skips(mode))
    return out


def _skips(mode):
    return getattr(mode, "name", mode) == "skip"


def transfer(dst, src, mask=None, accumulate=False, skip=False):
    """dst = src by DMA, whichever of them is in HBM or indexed by values."""
    mask = e.mask_of(mask)
    if mask is not None:
        dst, src = _by_rows(dst), _by_rows(src)
    for part in e.parts(mask):
        if part is None:
            _moved(dst, src, accumulate, skip)
        elif not dst._masked(part).empty():
            _moved(dst._masked(part), src._masked(part), accumulate, skip)


def _moves_whole(view):
    """Whether one number of the run moves several rows of a tensor in HBM."""
    return view.by_values and view.space == HBM and view.index.size == 1 and view.shape[0] != 1


def _by_rows(view):
    """A tensor in HBM that one number of the run moves as a whole, with an index for each of its rows."""
    if not _moves_whole(view):
        return view
    from trnsim.nki import _views
    return _views.by_rows(view)


def _moved(dst, src, accumulate, skip):
    """One transfer. A place on the chip that only the run knows is read and written by a dynamic copy beside it."""
    if _places.moved(src):
        src = _places.fetched(src)
    if _places.moved(dst):
        to = _places.fetched(dst) if accumulate or skip else temp(list(dst.shape), dst.code)
        _moved(to, src, accumulate, skip)
        _places.write(dst, to)
    elif src.by_values:
        rows, index, how = _rows_of(src)
        put("dma_gather", e.SYNC, dst, rows, index, accumulate=accumulate, skip=skip, **how)
    elif dst.by_values:
        rows, index, how = _rows_of(dst)
        put("dma_scatter", e.GPSIMD, rows, src, index, accumulate=accumulate, skip=skip, **how)
    else:
        put("dma_copy", e.SYNC, dst, src, accumulate=accumulate)


def _rows_of(view):
    """The rows that a transfer may name, the index, and how a row follows from one number that moves all."""
    if not _moves_whole(view):
        return view._rows(), _index_of(view), {}
    from trnsim.nki import _views
    rows, factor, step = _views.in_rows(view)
    return rows._rows(), _index_of(rows), {"ints": [factor, step, 0, 0]}


def _index_of(view):
    index = tile(view.index, "index")
    if index.cols != 1 and index.one_column:  # nl.mgrid repeats the partition's index over the free axis
        for axis in range(1, index.ndim):
            index = index._cut(axis, 0, 1)
    if index.cols != 1:
        index = index._reshape([index.partitions * index.cols, 1]) if index.partitions == 1 else index
    if not is_integer(index.code) and (index.size > 1 or state.newer):
        raise error(f"an index tile of {index.dtype}", "give whole numbers: nl.copy(index, dtype=nl.int32)")
    if index.code != _dtypes.INT32:
        if _dtypes.size_of(index.code) == 4 and is_integer(index.code):
            return index._as(_dtypes.INT32)
        number = temp(index.shape, _dtypes.INT32)
        current().copy(number, index)
        return number
    return index


def store(dst, value, *, mask=None, mode=None):
    """Writes a tile to HBM. `mode`: as of load."""
    if not is_tile(dst) or dst.space != HBM:
        raise error("nl.store writes to HBM", "assign to a tile with tile[...] = value")
    if not dst.ndim:  # one element
        dst = dst._reshape([1, 1])
    if not is_tile(value):
        shape = [dst.shape[0], int(np.prod(dst.shape[1:]))]
        number, value = value, temp(shape, dst.code)
        e.fill(e.ANY, value, number)
        value = value._reshape(list(dst.shape))
    if value.space == HBM:
        raise error("nl.store takes a tile in SBUF", "load it first, or use nisa.dma_copy")
    value = e.in_sbuf(value)
    if value.size != dst.size and not dst.by_values:
        value = e.spread(value, dst.shape)
    transfer(dst, value, mask, skip=_skips(mode))


_SQUARE = 128  # rows and columns that TensorE transposes at a time


def load_transpose2d(src, *, mask=None, dtype=None):
    """The tensor with its axes exchanged. DMA moves its elements one by one where TensorE transposes rows at once, so
    that the compiler takes TensorE for all but a few elements."""
    if src.ndim != 2:
        raise error(f"a transposed load of {src.ndim} axes", "index it down to two")
    mask = e.mask_of(mask)
    source = src if mask is None else src._masked(mask)
    out = temp([src.shape[1], src.shape[0]], code(dtype, src.code))
    to = out
    for axis in (0, 1):
        if source.shape[axis] != src.shape[axis]:
            to = to._cut(1 - axis, 0, source.shape[axis])
    if not state.transposes or source.size < 1024 or is_integer(source.code) or is_integer(out.code):
        put("dma_transpose", e.SYNC, to, source)
        return out
    rows, columns = source.shape
    for c in range(0, columns, _SQUARE):
        for r in range(0, rows, _SQUARE):
            n, m = min(_SQUARE, rows - r), min(_SQUARE, columns - c)
            tile_of_rows, turned = temp([n, m], out.code), temp([m, n], out.code, PSUM)
            put("dma_copy", e.SYNC, tile_of_rows, source._cut(0, r, n)._cut(1, c, m))
            put("pe_transpose", e.TENSOR, turned, tile_of_rows, bitwise=e.moves_bits())
            put("tensor_copy", e.ANY, to._cut(0, c, m)._cut(1, r, n), turned)
    return out


def atomic_rmw(dst, value, op, *, mask=None):
    if e.alu_name(op) != "add":
        raise error("atomic_rmw adds only", "use np.add")
    if not is_tile(value):
        number, value = value, temp(dst.shape, dst.code)
        e.fill(e.ANY, value, number)
    transfer(dst, e.in_sbuf(value), mask, accumulate=True)


def copy(src, *, mask=None, dtype=None):
    src = tile(src, "source of a copy")
    out = temp(src.shape, code(dtype, src.code))
    put("tensor_copy", e.ANY, out, src, mask=mask)
    return out


def static_cast(value, dtype):
    """A tile, an array of the host, or a number, as numbers of another type: rounded to nearest, as the machine rounds.
    That of a tile is a copy."""
    if is_tile(value):
        return copy(value, dtype=dtype)
    kind, array = _dtypes.dtype_of(code(dtype)), np.asarray(value)
    if kind == _dtypes.tfloat32:
        return array.astype(np.float32)
    wide = array if array.dtype.kind in "iub" or array.dtype == kind else array.astype(np.float32)
    return wide.astype(kind)


def expand_dims(data, axis):
    return data.expand_dims(axis)


def broadcast_to(src, *, shape):
    """The tile repeated to `shape`: across partitions a new tile, by TensorE."""
    if tuple(src.shape) == tuple(shape):
        return src
    return e.spread(tile(src), [int(s) for s in shape])
