"""nki.language: reductions, and what is made of several instructions."""
import builtins
import dis
import functools
import os
import sys

import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki import _counted
from trnsim.nki import _emit as e
from trnsim.nki._dtypes import FP32, code, is_integer
from trnsim.nki._emit import FN, Result, binary, is_tile, put, temp, tile
from trnsim.nki._isa.gather import nc_n_gather
from trnsim.nki._isa.matrix import nc_matmul, nc_transpose
from trnsim.nki._isa.vector import dropout as _dropout
from trnsim.nki._language.elementwise import exp, reciprocal, square
from trnsim.nki._language.indices import begins, num_programs
from trnsim.nki._language.moves import copy, store
from trnsim.nki._state import HBM, PSUM, current, error, state

_OWN = os.path.dirname(e.__file__)


def sum(x, axis, *, dtype=None, mask=None, keepdims=False):
    return e.reduction("add", x, axis, Result(dtype, mask), keepdims)


def prod(x, axis, *, dtype=None, mask=None, keepdims=False):
    return e.reduction("mul", x, axis, Result(dtype, mask), keepdims)


def max(x, axis, *, dtype=None, mask=None, keepdims=False):
    return e.reduction("max", x, axis, Result(dtype, mask), keepdims)


def min(x, axis, *, dtype=None, mask=None, keepdims=False):
    return e.reduction("min", x, axis, Result(dtype, mask), keepdims)


def all(x, axis, *, dtype=bool, mask=None):
    return e.reduction("min", binary("ne", x, 0.0, np.uint8, mask), axis, Result(dtype, mask))


def _count(x, axis, mask):
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    mask, n = e.mask_of(mask), 1
    data = x if mask is None else x._masked(mask)
    for a in axes:
        n *= data.shape[a]
    return builtins.max(n, 1)


def mean(x, axis, *, dtype=None, mask=None, keepdims=False):
    x = tile(x)
    out = code(dtype, FP32 if is_integer(x.code) else x.code)
    total = e.reduction("add", x, axis, Result(np.float32, mask), keepdims)
    return binary("mul", total, 1.0 / _count(x, axis, mask), _dtypes.dtype_of(out))


def var(x, axis, *, dtype=None, mask=None):
    x = tile(x)
    out = code(dtype, FP32 if is_integer(x.code) else x.code)
    middle = mean(x, axis, dtype=np.float32, mask=mask, keepdims=True)
    apart = binary("sub", x, middle, np.float32, mask)
    total = e.reduction("add", square(apart, mask=mask), axis, Result(np.float32, mask))
    return binary("mul", total, 1.0 / _count(x, axis, mask), _dtypes.dtype_of(out))


def softmax(x, axis, *, dtype=None, compute_dtype=None, mask=None):
    x = tile(x)
    out = _dtypes.dtype_of(code(dtype or compute_dtype, x.code))
    most = max(x, axis, dtype=np.float32, mask=mask, keepdims=True)
    powers = exp(binary("sub", x, most, np.float32, mask), dtype=np.float32, mask=mask)
    total = sum(powers, axis, dtype=np.float32, mask=mask, keepdims=True)
    return binary("mul", powers, reciprocal(total), out, mask)


def rms_norm(x, w, axis, n, epsilon=1e-6, *, dtype=None, compute_dtype=None, mask=None):
    x = tile(x)
    out = _dtypes.dtype_of(code(dtype or compute_dtype, x.code))
    total = sum(square(x, dtype=np.float32, mask=mask), axis, dtype=np.float32, mask=mask, keepdims=True)
    scale = e.activation(FN["rsqrt"], total, epsilon, 1.0 / n, Result(np.float32))
    normal = binary("mul", x, scale, np.float32 if is_tile(w) else out, mask)
    return binary("mul", normal, w, out, mask) if is_tile(w) else normal


def dropout(x, rate, *, dtype=None, mask=None):
    return _dropout(tile(x), rate, dtype=dtype, mask=mask)


def gather_flattened(data, indices, *, mask=None, dtype=None):
    indices = tile(indices, "indices")
    if is_integer(indices.code) and indices.code != _dtypes.UINT32:  # any whole numbers, where GpSimdE takes one type
        indices = indices._as(_dtypes.UINT32) if indices.itemsize == 4 else copy(indices, dtype=np.uint32)
    return nc_n_gather(data, indices, mask=mask, dtype=dtype)


class _LoopReduce:
    """x reduced into the tile that it is assigned to; the first time through its loops it is the result."""

    def __init__(self, x, op, indices, dtype, mask):
        self.x, self.op, self.first = x, e.alu_name(op), builtins.all(map(begins, indices))
        self.dtype, self.mask = dtype, mask

    def into(self, target):
        if self.first:
            put("tensor_copy", e.ANY, target, tile(self.x), mask=self.mask)
        else:
            binary(self.op, target, self.x, mask=self.mask, into=target)
        return target


def loop_reduce(x, op, loop_indices, *, dtype=None, mask=None):
    """x reduced over loops, into the tile that the result is assigned to: a part of one, or one that a name has, which
    is a new tile whenever these loops begin."""
    indices = loop_indices if isinstance(loop_indices, (list, tuple)) else [loop_indices]
    out = _LoopReduce(x, op, indices, dtype, mask)
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_OWN):  # the call's own check of its arguments
        frame = frame.f_back
    frame, name = _assigned(frame)
    if name is None:
        return out
    known = None if out.first else frame.f_locals.get(name, frame.f_globals.get(name))
    if is_tile(known):
        return binary(out.op, known, x, mask=mask, into=known)
    return copy(x, dtype=dtype, mask=mask)


def _assigned(frame):
    """The name that the result of the running call is bound to, in which function: that of the call, or one that it
    returns the result to. None: it is stored elsewhere."""
    while frame is not None:
        op, argument = _next(frame.f_code, frame.f_lasti)
        if not op.startswith("RETURN"):
            name = argument[0] if isinstance(argument, tuple) else argument
            return frame, name if op.startswith(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")) else None
        frame = frame.f_back
    return None, None


@functools.lru_cache(256)
def _next(code, place):
    """The instruction of Python that follows the one at that place, and the name in it."""
    return next(((i.opname, i.argval) for i in dis.get_instructions(code) if i.offset > place), ("", None))


def all_reduce(x, op, program_axes, *, dtype=None, mask=None, parallel_reduce=True, asynchronous=False):
    if num_programs(program_axes) == 1:
        return copy(x, dtype=dtype, mask=mask)
    raise error("all_reduce over the programs of a grid is not modelled", "launch the kernel without that axis")


def transpose(x, *, dtype=None, mask=None):
    return copy(nc_transpose(x, mask=mask), dtype=dtype or x.dtype)


def matmul(x, y, *, transpose_x=False, mask=None):
    """x @ y, or x.T @ y, in PSUM."""
    mask = e.mask_of(mask)
    if transpose_x:
        return nc_matmul(x, y, mask=mask)
    if x.partitions == x.cols and builtins.any(map(_cuts_first, mask.inequalities() if mask is not None else ())):
        raise error("the mask may mean rows of the result or the contraction: both have the same length",
                    "mask the operands: nl.matmul(x[i < n], y)")
    return nc_matmul(transpose(x), y, mask=mask)


def _cuts_first(rule):
    """Whether an inequality leaves out some places of the first axis."""
    size, step = (rule.shape[0], rule.coefficients[0]) if rule.shape else (1, 0)
    return step != 0 and size > 1 and rule.constant + builtins.min(0, step * (size - 1)) < 0


def device_print(prefix, x="", *, mask=None, **_):
    """Prints the prefix and what the tile holds here, once the kernel has been computed (trnsim.nki._prints)."""
    from trnsim.nki import _prints
    _prints.noted(prefix, x, mask)


def static_assert(condition, message=""):
    if not condition:
        raise error(f"static_assert: {message}", "make the assertion true")


def _fill(target, value):
    """A number in all of a tile. Engines begin at certain partitions; DMA writes to others."""
    grid = 128 if target.partitions > 64 else 64 if target.partitions > 32 else 32
    to = target if target.start % grid == 0 else temp(target.shape, target.code)
    e.fill(e.VECTOR if to.space == PSUM or is_integer(to.code) else e.ANY, to, value)
    if to is not target:
        current().copy(target, to)


def assign(target, value):
    """target[...] = value, for all that is not a tile of that size."""
    if isinstance(value, _LoopReduce):
        return value.into(target)
    if isinstance(value, _counted.KINDS):
        value = _counted.counted(value, target.partitions)
    if not is_tile(value):
        if target.space == HBM:
            return store(target, value)
        return _fill(target, value)
    if target.space == HBM:
        return store(target, value)
    if value.space == HBM:
        raise error("a tile on the chip is assigned a tensor in HBM", "use nl.load")
    if value.by_values or target.by_values:
        raise error("a tile at a place that is known only at run time is assigned",
                    "use nisa.tensor_copy" if state.newer else "use nisa.tensor_copy_dynamic_src or _dst")
    if value.ndim < target.ndim and value.size != target.size:
        value, _ = e.alike(value, target)
    current().copy(target, value)
    return None
