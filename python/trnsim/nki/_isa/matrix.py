"""nki.isa: TensorE."""
from trnsim.nki import _emit as e
from trnsim.nki._dtypes import FP32, code, is_integer
from trnsim.nki._emit import put, temp, tile
from trnsim.nki._isa import modes
from trnsim.nki._language.moves import copy
from trnsim.nki._state import PSUM, SBUF, error


def nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              tile_position=(), tile_size=(), mask=None):
    """stationary.T @ moving, in PSUM."""
    stationary, moving = tile(stationary, "stationary operand"), tile(moving, "moving operand")
    if stationary.space != SBUF or moving.space != SBUF:
        raise error("TensorE reads SBUF", "copy the operand from PSUM with nisa.tensor_copy")
    columns = stationary.cols
    shape = [columns] + (list(moving.shape[1:]) if moving.ndim > 1 else [1])
    out = temp(shape, FP32, PSUM)
    to = out
    if mask is not None:
        to, stationary, moving = _matmul_mask(e.mask_of(mask), out, stationary, moving)
        if to.empty() or stationary.empty():
            return out
    if is_transpose and moving.partitions == moving.cols == stationary.partitions:
        put("pe_transpose", e.TENSOR, to, stationary)
    else:
        pe = [int(i) for i in (*tile_position, *tile_size)] if tile_size else None
        put("matmul", e.TENSOR, to, stationary, moving, onezero=is_stationary_onezero or is_moving_onezero, pe=pe)
    return out


def _matmul_mask(mask, out, stationary, moving):
    """A mask of partitions is of both operands; one of a free axis of that which is as long, the moving one first."""
    if mask is None:
        return out, stationary, moving
    for rule in mask.inequalities():
        one = rule >= 0
        axes = [d for d, c in enumerate(rule.coefficients) if c and rule.shape[d] > 1]
        if not axes:
            out, moving = out._masked(one), moving._masked(one)
        elif axes[0] == 0:
            stationary, moving = stationary._masked(one), moving._masked(one)
        elif rule.shape[axes[0]] != stationary.cols or \
                rule.shape[axes[0]] == moving.shape[min(axes[0], moving.ndim - 1)]:
            out, moving = out._masked(one), moving._masked(one)
        else:
            kept = stationary._masked(one)
            low = 0 if rule.coefficients[axes[0]] < 0 else stationary.cols - kept.cols
            out, stationary = out._cut(0, low, kept.cols), kept
    return out, stationary, moving


def nc_transpose(data, *, mask=None, dtype=None, engine=modes.engine.unknown):
    """Partitions and elements exchanged: on TensorE to PSUM, on VectorE up to 32 x 32."""
    data = tile(data)
    if mask is not None and e.mask_of(mask) is not None:
        data = data._masked(e.mask_of(mask))
    which = modes.engine_code(engine)
    small = data.partitions <= 32 and data.cols <= 32
    if which == e.VECTOR or (which == e.ANY and (small or is_integer(data.code))):
        out = temp([data.cols, data.partitions], data.code)
        put("vector_transpose", e.VECTOR, out, data)
    else:
        out = temp([data.cols, data.partitions], data.code, PSUM)
        put("pe_transpose", e.TENSOR, out, e.in_sbuf(data))
    return out if dtype is None or code(dtype) == data.code else copy(out, dtype=dtype)
