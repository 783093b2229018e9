"""Calls that were made before: a loop calls a function again and again with tiles of the same types and sizes, and then
the function is one instruction on its arguments. That instruction is kept, and given again without the function."""
from trnsim import _core
from trnsim.nki._state import state

_View = _core.View
_MOST = 4096  # kept calls of a kernel
# Functions that do what follows from the types and sizes of their tiles, and from their other arguments.
KEPT = {"nisa.dma_copy", "nisa.tensor_tensor", "nisa.tensor_scalar", "nisa.scalar_tensor_tensor", "nisa.tensor_copy",
        "nisa.activation", "nisa.activation_reduce", "nisa.tensor_reduce", "nisa.tensor_tensor_scan",
        "nisa.reciprocal", "nisa.memset", "nisa.nc_matmul", "nisa.nc_transpose", "nisa.bn_stats", "nisa.max8",
        "nl.load", "nl.store", "nl.copy", "nl.add", "nl.subtract", "nl.multiply", "nl.divide", "nl.maximum",
        "nl.minimum", "nl.equal", "nl.not_equal", "nl.greater", "nl.greater_equal", "nl.less", "nl.less_equal",
        "nl.negative", "nl.reciprocal", "nl.exp", "nl.log", "nl.sqrt", "nl.rsqrt", "nl.tanh", "nl.sigmoid",
        "nl.relu", "nl.gelu", "nl.silu", "nl.square", "nl.abs", "nl.sum", "nl.max", "nl.min", "nl.matmul"}


def called(function, args, named, key):
    """The function's result; what it does is kept under `key` if it is one instruction on its arguments."""
    before, put = (state.trace.made, len(state.doubts)), []
    state.heard = put
    try:
        result = function(*args, **named)
    finally:
        state.heard = None
    if len(state.recipes) < _MOST:
        plain = len(put) == 1 and (state.trace.made - 1, len(state.doubts)) == before
        state.recipes[key] = _recipe(put[0], result, [*enumerate(args), *named.items()]) if plain else None
    return result


def _recipe(put, result, given):
    """An instruction with the places of its operands: those of arguments, () for a new tile; None for another one."""
    op, engine, operands, mask, settings = put
    places, fixed, new = [], [], None
    for operand in operands:
        place = next((name for name, value in given if value is operand), None)
        is_view = operand.__class__ is _View
        if is_view and place is None:
            if operand is not result or operand is not operands[0]:
                return None
            place, new = (), (operand.space, operand.code, list(operand.shape))
        places.append(place if is_view else None)
        fixed.append(None if is_view else operand)
    gives = result.__class__ is _View
    if mask is not None or (gives and result is not operands[0]):
        return None
    return _core.Recipe((op, engine, tuple(fixed), settings), tuple(places), new, gives, None if gives else result)
