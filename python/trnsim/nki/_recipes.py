"""Calls that were made before: a loop calls a function again and again with tiles of the same types and sizes, and then
the function is one instruction on its arguments. That instruction is kept, and given again without the function."""
from trnsim import _core
from trnsim.nki._state import PSUM, state

_View = _core.View
_MOST = 4096  # kept calls of a kernel
# Functions that do what follows from the types and sizes of their tiles, and from their other arguments.
KEPT = {"nisa.tensor_tensor", "nisa.tensor_scalar", "nisa.scalar_tensor_tensor", "nisa.tensor_copy",
        "nisa.activation", "nisa.activation_reduce", "nisa.tensor_reduce", "nisa.tensor_tensor_scan",
        "nisa.reciprocal", "nisa.memset", "nisa.nc_matmul", "nisa.nc_transpose", "nisa.bn_stats", "nisa.max8",
        "nl.load", "nl.store", "nl.copy", "nl.add", "nl.subtract", "nl.multiply", "nl.divide", "nl.maximum",
        "nl.minimum", "nl.equal", "nl.not_equal", "nl.greater", "nl.greater_equal", "nl.less", "nl.less_equal",
        "nl.negative", "nl.reciprocal", "nl.exp", "nl.log", "nl.sqrt", "nl.rsqrt", "nl.tanh", "nl.sigmoid",
        "nl.relu", "nl.gelu", "nl.silu", "nl.square", "nl.abs", "nl.sum", "nl.max", "nl.min", "nl.matmul"}


def key_of(args, named, sums):
    """What a call has in common with others that do the same; None where its arguments do not say it. `sums`: the first
    argument is a destination, to which the call adds where something was written before."""
    key, tiles = [*named], []
    for value in (*args, *(v for word, v in named.items() if word != "name")):
        kind = value.__class__
        if kind is _View:
            tiles.append(value)
            value = value.kind
            if value < 0:
                return None
        elif kind is float and value == 0:
            value = str(value)  # 0.0 and -0.0 are equal
        key += (kind, value)
    if named.get("mask") is not None:
        return None
    for i in range(1, len(tiles)):  # a tile given twice
        for k in range(i):
            if tiles[k] is tiles[i]:
                key += (k, i)
    if sums:
        to = args[0] if args else named.get("dst")
        if to.__class__ is not _View or to.space != PSUM:
            return None
        key.append(state.trace.starts_sum(to))
    return tuple(key)


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
    """An instruction with the names of its operands: those of arguments, or () for a new tile; None for another one."""
    op, engine, operands, mask, settings = put
    places, new = [], None
    for operand in operands:
        place = next((name for name, value in given if value is operand), None)
        if operand.__class__ is not _View:
            places.append((False, operand))
        elif place is not None:
            places.append((True, place))
        elif operand is result and operand is operands[0]:
            places.append((True, ()))
            new = operand.space, operand.code, list(operand.shape)
        else:
            return None
    gives = result.__class__ is _View
    if mask is not None or (gives and result is not operands[0]):
        return None
    return op, engine, places, settings, new, gives, None if gives else result


def again(recipe, args, named):
    """The instruction on these arguments."""
    op, engine, places, settings, new, gives, result = recipe
    operands = []
    for is_view, place in places:
        if not is_view:
            operands.append(place)
        elif place.__class__ is int:
            operands.append(args[place])
        else:
            operands.append(named[place] if place else state.trace.temporary(*new))
    state.trace.emit(op, engine, tuple(operands), None, settings)
    return operands[0] if gives else result
