"""nki.isa: TensorE."""
from trnsim import _core
from trnsim.nki import _emit as e
from trnsim.nki import _masks
from trnsim.nki._dtypes import FP8, FP32, code, is_integer, size_of
from trnsim.nki._emit import put, tile
from trnsim.nki._isa import modes
from trnsim.nki._language.moves import copy
from trnsim.nki._state import PSUM, SBUF, error, state


def nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              tile_position=(), tile_size=(), mask=None, perf_mode=None):
    """stationary.T @ moving, in PSUM."""
    if perf_mode is not None:
        return double_row(stationary, moving, perf_mode)
    mask = e.mask_of(mask)
    return product(_of_one_width(stationary, moving), bool(is_stationary_onezero or is_moving_onezero), is_transpose,
                   (tile_position, tile_size), mask=mask)


def _of_one_width(*operands):
    """The array multiplies fp32 with fp32 alone (SDK 2.32, nki.isa.nc_matmul). That of SDK 2.26 names no such rule, and
    published kernels give it fp32 and fp16: the narrower tile becomes fp32, which changes no number."""
    if sum(t.code == FP32 for t in operands) != 1 or any(is_integer(t.code) for t in operands):
        return operands
    return tuple(t if t.code == FP32 else copy(t, dtype="float32") for t in operands)


def double_row(stationary, moving, mode, accumulate=False):
    """Two rows of fp8 for each of the array: the sum of two products. They take the time of two."""
    if modes.get_nc_version().value < 3:
        raise error(f"perf_mode {mode} exists from NeuronCore-v3 on", "leave perf_mode out")
    if mode not in ("double_row_gen3", "double_row"):
        raise error(f"perf_mode {mode} is not modelled", "use double_row_gen3, or leave perf_mode out")
    if stationary.code not in FP8 or moving.code not in FP8:
        raise error(f"double rows of {stationary.dtype} and {moving.dtype}", "give two float8, or leave perf_mode out")
    if stationary.shape[1] != 2 or moving.shape[1] != 2:
        raise error(f"double rows of {tuple(stationary.shape)} and {tuple(moving.shape)}", "give both [K, 2, columns]")
    out = product((stationary[:, 0, :], moving[:, 0, :]), accumulate=accumulate)
    put("matmul", e.TENSOR, out, in_sbuf_for_tensor(stationary[:, 1, :]), in_sbuf_for_tensor(moving[:, 1, :]),
        accumulate=True)
    return out


def product(operands, onezero=False, is_transpose=False, place=((), ()), accumulate=False, mask=None):
    """stationary.T @ moving in PSUM, or added to what is there."""
    stationary, moving = (in_sbuf_for_tensor(t) for t in operands)
    columns = stationary.cols
    shape = [columns] + (list(moving.shape[1:]) if moving.ndim > 1 else [1])
    out = e.result(shape, FP32, PSUM)
    to = out
    if mask is not None:
        to, stationary, moving = _matmul_mask(mask, out, stationary, moving)
        if to.empty() or stationary.empty():
            return out
    square = moving.partitions == moving.cols == stationary.partitions
    if is_transpose and square and e.moves_bits():  # before NeuronCore-v3 it is a name for the profiler only
        put("pe_transpose", e.TENSOR, to, stationary, moving, bitwise=True)
    else:
        pe = [int(i) for i in (*place[0], *place[1])] if place[1] else None
        put("matmul", e.TENSOR, to, stationary, moving, onezero=onezero, pe=pe, accumulate=accumulate or None)
    return out


def in_sbuf_for_tensor(x):
    """An operand of TensorE, which reads SBUF. The older dialect's compiler copies what is in PSUM."""
    x = tile(x, "operand of TensorE")
    if x.space == SBUF:
        return x
    if state.into is not None:
        raise error("TensorE reads SBUF", "copy the operand from PSUM with nisa.tensor_copy")
    return e.in_sbuf(x)


def _matmul_mask(mask, out, stationary, moving):
    """An index of a mask names the axis that is as long: a first one the contraction, or else the rows of the result;
    another one columns of the moving operand, or else of the stationary one. All count from the operands' begin."""
    rows, contracted, columns = [], _core.Mask(), _core.Mask()
    for rule in mask.inequalities():
        axis = next((d for d, c in enumerate(rule.coefficients) if c and rule.shape[d] > 1), None)
        size = None if axis is None else rule.shape[axis]
        if axis == 0 and size == moving.partitions:
            contracted &= rule >= 0
        elif size == stationary.cols and (axis == 0 or size != moving.shape[min(axis, moving.ndim - 1)]):
            rows.append((rule.coefficients[axis], rule.constant))
        elif axis == 0:
            raise error(f"a mask of {size} partitions: {moving.partitions} are contracted, the result has "
                        f"{stationary.cols} rows", "mask the operands: nl.matmul(x[i < n], y)")
        else:
            columns &= rule >= 0
    out, moving = out._masked(columns), moving._masked(contracted & columns)
    stationary = stationary._masked(contracted)
    if rows:
        low = max([0] + [-(constant // step) for step, constant in rows if step > 0])
        high = min([stationary.cols] + [constant // -step + 1 for step, constant in rows if step < 0])
        low, size = min(low, stationary.cols), max(0, high - low)
        out = out._cut(0, low, size)
        stationary = stationary._reshape([stationary.partitions, stationary.cols])._cut(1, low, size)
    return out, stationary, moving


def _in_squares(data, out):
    """VectorE exchanges squares of 32 x 32: each goes to its own place."""
    data = data if data.ndim == 2 else data._reshape([data.partitions, data.cols])
    for p in range(0, data.partitions, 32):
        for c in range(0, data.cols, 32):
            high, wide = min(32, data.partitions - p), min(32, data.cols - c)
            put("vector_transpose", e.VECTOR, out._cut(0, c, wide)._cut(1, p, high),
                data._cut(0, p, high)._cut(1, c, wide))
    return out


def nc_transpose(data, *, mask=None, dtype=None, engine=modes.engine.unknown):
    """Partitions and elements exchanged: on TensorE to PSUM, on VectorE up to 32 x 32."""
    data = tile(data)
    ranges, shape = _masks.left(data, mask), [data.cols, data.partitions]
    data = _masks.cut(data, ranges)
    if data.cols != shape[0] and len(ranges) > 2:
        raise error("a mask cuts inner axes of what is transposed", "index the tile to two axes")
    to = ([(0, shape[0])] if data.cols == shape[0] else ranges[1:]) + ranges[:1]
    which = modes.engine_code(engine)
    small = data.partitions <= 32 and data.cols <= 32
    words = is_integer(data.code) and size_of(data.code) > 2 and not e.moves_bits()  # TensorE would round them
    if which == e.VECTOR or (which == e.ANY and (small or words)):
        out = e.result(shape, data.code)
        _in_squares(data, _masks.cut(out, to))
    else:
        out = e.result(shape, data.code, PSUM)
        put("pe_transpose", e.TENSOR, _masks.cut(out, to), e.in_sbuf(data), bitwise=e.moves_bits())
    return out if dtype is None or code(dtype) == data.code else copy(out, dtype=dtype)
