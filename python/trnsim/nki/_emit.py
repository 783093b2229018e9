"""Instructions as the language and the instruction set write them."""
import functools
import math

import numpy as np

from trnsim import _core
from trnsim._errors import Error
from trnsim.nki import _dtypes
from trnsim.nki._dtypes import UINT8, code, is_integer, promote
from trnsim.nki._masks import left, mask_of, parts
from trnsim.nki._numbers import held, signed, whole
from trnsim.nki._state import HBM, PSUM, SBUF, current, error, state

View = _core.View
OP = _core.opcodes
ALU = _core.alus
FN = _core.functions
TENSOR, VECTOR, SCALAR, GPSIMD, SYNC, ANY = 0, 1, 2, 3, 4, -1

def put(op, engine, dst, *sources, mask=None, **settings):
    """Adds an instruction. `sources`: a, b, c; `settings`: dst2, and members of isa::Instr by their names; None: not
    given. `engine` ANY: of those that can, the one that is done first."""
    operands = (dst, *sources, None, None, None)[:4] + (settings.pop("dst2", None),)
    if state.heard is not None:
        state.heard.append((OP[op], engine, operands, mask, settings))
    try:
        if mask is None:
            return current().emit(OP[op], engine, operands, None, settings)
        for part in parts(mask_of(mask)):
            current().emit(OP[op], engine, operands, part, settings)
    except Error as problem:
        problem.operands = operands[1:]  # which the error calls a, b, c and dst2
        raise
    return None


def is_later(generation):
    """Whether the chip is NeuronCore of that generation, or a later one."""
    return state.machine().generation >= generation


def number(value):
    """Immediates of an instruction that has one number."""
    return float(value), 0.0, 0.0, 0.0


def fill(engine, to, value, mask=None):
    """A number in every element of a tile: all bits of a whole one, where the type has it."""
    value = held(value, to.code)
    if whole(value) and is_integer(to.code):
        put("memset", engine, to, ints=[signed(value), 0, 0, 0], mask=mask)
    else:
        put("memset", engine, to, imm=number(value), mask=mask)


class Result:
    """Where a result goes: a new tile of `dtype`, or `into` one; under a mask, on an engine."""

    def __init__(self, dtype=None, mask=None, into=None, engine=ANY):
        self.dtype, self.mask, self.into, self.engine = dtype, mask, into, engine

    def code(self, otherwise):
        """The code of its type; `otherwise`: where none was asked for."""
        return self.into.code if self.into is not None else code(self.dtype, otherwise)

    def tile(self, shape, otherwise):
        return self.into if self.into is not None else temp(shape, self.code(otherwise))


def temp(shape, dtype, space=SBUF):
    sizes = list(shape)
    if not sizes or min(sizes) < 0:
        raise error(f"a tile of the shape {tuple(sizes)}", "give it at least one axis")
    return current().temporary(space, dtype, sizes)


def destination():
    """The tile that the call gave for its result (`dst` of the newer dialect), once; None: a new one is made."""
    to, state.into = state.into, None
    return to


def result(shape, dtype, space=SBUF):
    """The tile for the result of an instruction: a new one, or the destination that the call gave."""
    to = destination()
    if to is None:
        return temp(shape, dtype, space)
    size = 1
    for s in shape[1:]:
        size *= s
    if to.partitions != shape[0] or to.cols != size:
        raise error(f"dst has the shape {tuple(to.shape)}, the result has {tuple(shape)}",
                    "give a destination of that shape")
    return to


def is_tile(x):
    return isinstance(x, View)


def tile(x, what="operand"):
    """An operand that must be a tile on the chip, with its partitions as the first of at least two axes."""
    if not isinstance(x, View):
        raise error(f"the {what} is {type(x).__name__}, not a tile", "give it a tile in SBUF or PSUM")
    if x.ready:
        return x
    if x.space == HBM:
        raise error(f"the {what} lies in HBM", "load it to SBUF first")
    if x.by_values:
        if not state.newer:
            raise error(f"the {what} is at a place that is known only at run time",
                        "copy it with nisa.tensor_copy_dynamic_src first")
        x = x._fetched()
    if x.ndim == 1:
        return x._reshape([x.shape[0], 1])
    return x


def moves_bits():
    """Whether TensorE has a transpose mode: before NeuronCore-v3 it transposes by a product with the identity."""
    return state.machine().generation >= 3


def in_sbuf(x):
    """The tile itself, or a copy of it in SBUF."""
    if x.space != PSUM:
        return x
    out = temp(x.shape, x.code)
    current().copy(out, x)
    return out


def alike(x, y):
    """Two tiles with the same axes. As many elements of as many partitions are the same (nki.isa.tensor_tensor); else
    axes that one lacks follow its partitions, or all its axes where only that fits, as published kernels have both."""
    parts = {x.partitions, y.partitions}
    if len(parts - {1}) > 1 or HBM in (x.space, y.space) or list(x.shape) == list(y.shape):
        return x, y
    if len(parts) == 1 and x.cols == y.cols:
        return (x, y._reshape(list(x.shape))) if x.ndim >= y.ndim else (x._reshape(list(y.shape)), y)
    short, long = (x, y) if x.ndim < y.ndim else (y, x)
    own, ones = list(short.shape[1:]), [1] * (long.ndim - short.ndim)
    short = short._reshape([short.partitions] + (ones + own if _fits(own, long.shape[1:]) else own + ones))
    return (short, long) if long is y else (long, short)


def _fits(x, y):
    return all(1 in sizes or sizes[0] == sizes[1] for sizes in zip(reversed(x), reversed(y)))


def spread(x, shape, in_psum=False):
    """The tile repeated to `shape`: partitions by TensorE, elements by reading them again."""
    if x.partitions == 1 and shape[0] > 1:
        x = current().spread(x, shape[0], in_psum)
    if tuple(x.shape) != tuple(shape):
        x = x._broadcast(list(shape))
    return x


NAMES = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min",
          "power": "pow", "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge", "less": "lt",
          "less_equal": "le", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "left_shift": "shl",
          "right_shift": "shr", "max": "max", "min": "min", "amax": "max", "amin": "min", "sum": "add", "prod": "mul"}
BITS = {"and", "or", "xor", "shl", "shr", "not"}
COMPARISONS = {"eq", "ne", "gt", "ge", "lt", "le", "logical_and", "logical_or", "logical_xor", "logical_not"}


@functools.lru_cache(256)
def alu_name(op):
    """The ALU operation that an `op=` argument names: a function of NumPy or of nl, or its name."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if name == "true_divide":
        name = "divide"
    if name in ("eq", "ne", "lt", "le", "gt", "ge"):
        return name
    for known in (NAMES.get(name), _LATER.get(name), name):
        if known in ALU:
            return known
    if name in ("abs_max", "abs_min", "prelu"):
        raise error(f"{name} is an operation of NeuronCore-v4 and later", "trnsim nki --list names those of this chip")
    raise error(f"{name or op} is not an operation of the vector engines", "trnsim nki --list names those that are")


_LATER = {"logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
          "logical_not": "logical_not", "invert": "not", "bitwise_not": "not", "abs": "absolute",
          "absolute": "absolute", "rsqrt": "inverse_sqrt"}
FUNCTIONS = {"copy": "copy", "identity": "copy", "square": "square", "sigmoid": "sigmoid", "relu": "relu",
              "gelu": "gelu", "gelu_dx": "gelu_grad", "gelu_apprx_tanh": "gelu_tanh",
              "gelu_apprx_sigmoid": "gelu_sigmoid", "gelu_apprx_sigmoid_dx": "gelu_sigmoid_grad", "silu": "silu",
              "silu_dx": "silu_grad", "tanh": "tanh", "softplus": "softplus", "mish": "mish", "erf": "erf",
              "erf_dx": "erf_grad", "exp": "exp", "log": "log", "sin": "sin", "arctan": "arctan", "sqrt": "sqrt",
              "rsqrt": "rsqrt", "reciprocal": "reciprocal", "sign": "sign", "abs": "abs", "absolute": "abs"}


def function(op):
    """The ScalarE function that an `op=` argument names; None when there is none."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    return FN.get(FUNCTIONS.get(name))


def elementwise_type(name, x, y):
    """The code of the type of `x op y`, by NKI's promotion."""
    if name in COMPARISONS:
        return UINT8
    a = x.code if is_tile(x) else _dtypes.of_scalar(x)
    b = y.code if is_tile(y) else _dtypes.of_scalar(y)
    both = promote(a, b)
    if name in BITS and not is_integer(both) and is_integer(a) and is_integer(b) and not (is_tile(x) and is_tile(y)):
        return a if is_tile(x) else b  # bits stay whole numbers: a plain number is as wide as the tile
    return _dtypes.FP32 if name == "div" and is_integer(both) else both  # as numpy.divide: the documentation names it


def binary(name, x, y, dtype=None, mask=None, into=None):
    """`x op y` element by element, of tiles and numbers; `name` is an ALU operation."""
    return combined(name, x, y, Result(dtype, mask, into))


def combined(name, x, y, result):
    if not is_tile(x) and not is_tile(y):
        raise error("neither operand is a tile", "use Python's arithmetic")
    out_type = result.code(elementwise_type(name, x, y))
    if not is_tile(x):
        return with_scalar(y, name, x, True, result, out_type)
    if not is_tile(y):
        return with_scalar(x, name, y, False, result, out_type)
    x, y = tile(x), tile(y)
    if _core.same_sizes(x, y):
        shape = x.shape
    else:
        if x.ndim != y.ndim:
            x, y = alike(x, y)
        shape = _core.common(x, y)
        columns = name not in BITS and not (result.engine != VECTOR and _exact(name, (x, y), out_type))
        if columns and x.cols == 1 and y.cols > 1 and x.partitions == shape[0]:
            return with_scalar(spread(y, shape), name, x, True, result, out_type)
        if columns and y.cols == 1 and x.cols > 1 and y.partitions == shape[0]:
            return with_scalar(spread(x, shape), name, y, False, result, out_type)
        x = spread(x, shape, in_psum=y.space != PSUM and name not in BITS)
        y = spread(y, shape, in_psum=x.space != PSUM and name not in BITS)
    if x.space == PSUM and y.space == PSUM:
        y = in_sbuf(y)
    out = result.tile(shape, out_type)
    engine = VECTOR if result.engine == ANY else result.engine
    if name == "pow" or (result.engine != VECTOR and _exact(name, (x, y, out), out.code)):
        engine, x, y = GPSIMD, in_sbuf(x), in_sbuf(y)
    put("tensor_tensor", engine, out, x, y, alu0=ALU[name], mask=result.mask)
    return out


_WHOLE = {"add", "sub", "mul"}  # what GpSimdE does in 32-bit integers; in the newer dialect all arithmetic of two tiles
_WHOLE_NEWER = _WHOLE | {"max", "min"} | COMPARISONS - {"logical_not"}


def _exact(name, tiles, out_type):
    """Whether GpSimdE does it in 32-bit integers. In the newer dialect VectorE does it in fp32 where one is in PSUM."""
    words = all(is_integer(c) and _dtypes.size_of(c) == 4 for c in (out_type, *(t.code for t in tiles)))
    if name not in (_WHOLE_NEWER if state.newer else _WHOLE):
        return False
    return words and not (state.newer and any(t.space == PSUM for t in tiles))


def with_scalar(data, name, operand, reverse, result, out_type):
    """`data op operand`, or the other way round: a number, or one for each partition."""
    data, engine, ints = tile(data), result.engine, None
    out = result.tile(data.shape, out_type)
    if name == "pow":
        engine, data = GPSIMD, in_sbuf(data)
    if is_tile(operand):
        operand = tile(operand)
    elif integers((name,), data, operand):
        ints, operand = [signed(operand), 0, 0, 0], None
        engine = VECTOR if engine == ANY else engine
    else:
        operand = float(operand)
    put("tensor_scalar", engine, out, data, operand, alu0=ALU[name], reverse0=reverse, ints=ints, mask=result.mask)
    return out


def integers(names, data, *numbers):
    """Whether the numbers beside whole ones are 32 bits of the instruction: all are whole, and arithmetic, which is in
    fp32, takes bits as signed."""
    bits, parted = next((n for n in names if n in BITS), None), next((n for n in numbers if n % 1), None)
    if bits and parted is not None:
        raise error(f"{bits} of {parted}: it works on bits", "give a whole number")
    if not is_integer(data.code) or not all(map(whole, numbers)):
        return False
    return all(-1 << 31 <= n < 1 << 31 for n in numbers) or bits is not None


def activation(fn, data, bias=None, scale=1.0, result=None):
    """f(data * scale + bias) on ScalarE."""
    data, result = tile(data, "input of an activation"), result or Result()
    out = result.tile(data.shape, data.code)
    put("activation", SCALAR, out, data, scale_of(scale), bias_of(bias, data), fn=fn, mask=result.mask)
    return out


def scale_of(scale):
    return tile(scale, "scale") if is_tile(scale) else float(scale)


def bias_of(bias, data):
    """A bias is a tile: a number other than zero becomes one."""
    if bias is None:
        return -0.0  # which keeps the sign of a zero: nothing is added
    if is_tile(bias):
        return tile(bias, "bias")
    if float(bias) == 0:
        return float(bias)
    return current().constant(float(bias))._cut(0, 0, data.partitions)


def _axes(data, axis):
    """The axes of a reduction, from the first on."""
    given = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    axes = sorted({int(a) + data.ndim if a < 0 else int(a) for a in given})
    if not axes or axes[0] == 0:
        raise error("a reduction over partitions", "transpose first, or multiply with ones on TensorE")
    if axes[-1] >= data.ndim or axes[0] < 0:
        raise error(f"axis {axes[-1]} of a tile with {data.ndim} axes", "name an axis that the tile has")
    return axes


def reduction(name, data, axis, result, keepdims=False, negate=None):
    """The ALU operation over some of the free axes of a tile, on VectorE: they are read as the innermost ones."""
    data = tile(data, "input of a reduction")
    axes = _axes(data, axis)
    kept_axes = [d for d in range(data.ndim) if d not in axes]
    outer = [data.shape[d] for d in kept_axes]
    shape = outer if len(outer) > 1 else outer + [1]
    if keepdims:
        shape = [1 if d in axes else data.shape[d] for d in range(data.ndim)]
    out = result.tile(shape, code(result.dtype, data.code))
    if math.prod(out.shape) != math.prod(shape):
        raise error(f"dst has the shape {tuple(out.shape)}, the reduction has {tuple(shape)}", "give a destination of "
                    "that shape")
    if data.empty() and not out.empty():  # as in NumPy
        if name not in ("add", "mul"):
            raise error(f"{name} over no elements", "reduce an axis that has some")
        fill(VECTOR, out, int(name == "mul"))
        return out
    for part in parts(mask_of(result.mask), axes):
        source, where = data if part is None else data._masked(part), out
        for place, d in enumerate(kept_axes):
            if source.shape[d] != data.shape[d]:
                where = where._cut(d if keepdims else place, left(data, part)[d][0], source.shape[d])
        if not source.empty():
            _reduced(name, where, source, (kept_axes, axes), negate)
    return out


def _reduced(name, where, source, axes, negate):
    """One instruction of a reduction. `axes`: those that are kept, and those that are not."""
    kept_axes, gone = axes
    if gone != list(range(gone[0], source.ndim)):
        source = source._permuted(kept_axes + gone)
    if source.cols == where.cols:  # of one element each: no axis is left that an instruction could reduce
        source = source._reshape(list(where.shape))
        if negate:
            put("tensor_scalar", VECTOR, where, source, -1.0, alu0=ALU["mul"])
        else:
            put("tensor_copy", VECTOR, where, source)
    else:
        put("tensor_reduce", VECTOR, where, inner(source, len(kept_axes)), alu0=ALU[name], negate=negate)


def inner(data, first):
    """The tile with all axes from `first` on as one where memory joins them; a copy where too many axes are left."""
    n = 1
    for s in data.shape[first:]:
        n *= s
    sizes = list(data.shape[:first]) + [n]
    if first == data.ndim - 1:
        return data
    try:
        return data._reshape(sizes)
    except Error:
        if data.ndim <= 5:
            return data
        out = temp(data.shape, data.code)
        current().copy(out, data)
        return out._reshape(sizes)


def per_partition(x, data):
    """An operand as VectorE reads it beside `data`: a number, or one for each of its partitions."""
    if x is None:
        return None
    if not is_tile(x):
        return float(x)
    x = tile(x)
    if x.partitions == 1 and data.partitions > 1:
        x = spread(x, [data.partitions, 1])
    return x
