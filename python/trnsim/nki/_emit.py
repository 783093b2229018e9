"""Instructions as the language and the instruction set write them."""
import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki._dtypes import FP32, INT32, UINT8, UINT16, code, is_integer, promote
from trnsim.nki._state import HBM, PSUM, SBUF, current, error, state
from trnsim.nki._tensor import taken

View = _core.View
OP = _core.opcodes
ALU = _core.alus
FN = _core.functions
TENSOR, VECTOR, SCALAR, GPSIMD, SYNC, ANY = 0, 1, 2, 3, 4, -1
_ZERO = (0.0, 0.0, 0.0, 0.0)
REVERSE0, REVERSE1, ACCUMULATE = 1, 2, 4


def mask_of(mask):
    """The mask of a call: None for all, a `_core.Mask` otherwise."""
    if mask is None or mask is True:
        return None
    if mask is False:
        return _core.Mask.never()
    if isinstance(mask, _core.Mask):
        return taken(mask)
    if isinstance(mask, (bool, np.bool_)):
        return None if mask else _core.Mask.never()
    raise error("a mask is no comparison of indices", "compare nl.arange or nl.mgrid with numbers")


def put(op, engine, dst, a=None, b=None, c=None, dst2=None, alu0=0, alu1=0, fn=0, imm=_ZERO, flags=0, mask=None,
        extra=None):
    current().emit(OP[op], engine, dst, a, b, c, dst2, alu0, alu1, fn, imm, flags, mask_of(mask), extra)


def temp(shape, dtype, space=SBUF):
    return current().temporary(space, dtype, list(shape))


def is_tile(x):
    return isinstance(x, View)


def tile(x, what="operand"):
    """An operand that must be a tile on the chip, with its partitions as the first of at least two axes."""
    if not isinstance(x, View):
        raise error(f"the {what} is {type(x).__name__}, no tile", "give it a tile in SBUF or PSUM")
    if x.space == HBM:
        raise error(f"the {what} lies in HBM", "load it to SBUF first")
    if x.indirect:
        raise error(f"the {what} is indexed by values", "copy it with tensor_copy_dynamic_src, or load it by index")
    if x.ndim == 1:
        return x._reshape([x.shape[0], 1])
    return x


def in_sbuf(x):
    """The tile itself, or a copy of it in SBUF."""
    if x.space != PSUM:
        return x
    out = temp(x.shape, x.code)
    current().copy(out, x)
    return out


def spread(x, shape, in_psum=False):
    """The tile repeated to `shape`: partitions by TensorE, elements by reading them again."""
    if x.partitions == 1 and shape[0] > 1:
        x = current().spread(x, shape[0], in_psum)
    if tuple(x.shape) != tuple(shape):
        x = x._broadcast(list(shape))
    return x


_ALU_OF, _FN_OF = {}, {}
_NAMES = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min",
          "power": "pow", "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge", "less": "lt",
          "less_equal": "le", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "left_shift": "shl",
          "right_shift": "shr", "max": "max", "min": "min", "amax": "max", "amin": "min", "sum": "add", "prod": "mul"}
BITS = {"and", "or", "xor", "shl", "shr", "not"}
COMPARISONS = {"eq", "ne", "gt", "ge", "lt", "le", "logical_and", "logical_or", "logical_xor", "logical_not"}


def alu_name(op):
    """The ALU operation that an `op=` argument names: a function of NumPy or of nl, or its name."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if name == "true_divide":
        name = "divide"
    if name in ("eq", "ne", "lt", "le", "gt", "ge"):
        return name
    for known in (_NAMES.get(name), _LATER.get(name), name):
        if known in ALU:
            return known
    raise error(f"{name or op} is no operation of the vector engines", "trnsim nki --list names those that are")


_LATER = {"logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
          "logical_not": "logical_not", "invert": "not", "bitwise_not": "not", "abs": "absolute", "absolute": "absolute",
          "rsqrt": "inverse_sqrt"}
_FUNCTIONS = {"copy": "copy", "identity": "copy", "square": "square", "sigmoid": "sigmoid", "relu": "relu",
              "gelu": "gelu", "gelu_dx": "gelu_grad", "gelu_apprx_tanh": "gelu_tanh",
              "gelu_apprx_sigmoid": "gelu_sigmoid", "silu": "silu",
              "silu_dx": "silu_grad", "tanh": "tanh", "softplus": "softplus", "mish": "mish", "erf": "erf",
              "erf_dx": "erf_grad", "exp": "exp", "log": "log", "sin": "sin", "arctan": "arctan", "sqrt": "sqrt",
              "rsqrt": "rsqrt", "reciprocal": "reciprocal", "sign": "sign", "abs": "abs", "absolute": "abs"}


def function(op):
    """The ScalarE function that an `op=` argument names; None when there is none."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    known = _FUNCTIONS.get(name)
    return FN.get(known) if known else None


def number_of(x):
    return float(x)


def elementwise_dtype(name, x, y, dtype):
    """The type of `x op y`, by NKI's promotion."""
    if dtype is not None:
        return code(dtype)
    if name in COMPARISONS:
        return UINT8
    a = x.code if is_tile(x) else _dtypes.of_scalar(x)
    b = y.code if is_tile(y) else _dtypes.of_scalar(y)
    return promote(a, b)


def binary(name, x, y, dtype=None, mask=None, into=None, engine=ANY):
    """`x op y` element by element, of tiles and numbers; `name` is an ALU operation."""
    if not is_tile(x) and not is_tile(y):
        raise error("neither operand is a tile", "use Python's arithmetic")
    out_type = into.code if into is not None else elementwise_dtype(name, x, y, dtype)
    if not is_tile(y) or not is_tile(x):
        data, number, reverse = (x, y, False) if is_tile(x) else (y, x, True)
        return tensor_scalar(data, name, number, reverse, out_type, mask, into, engine)
    x, y = tile(x), tile(y)
    shape = _core.common(x, y)
    if x.cols == 1 and y.cols > 1 and x.partitions == shape[0] and name not in BITS:
        return tensor_scalar(spread(y, shape), name, x, True, out_type, mask, into, engine)
    if y.cols == 1 and x.cols > 1 and y.partitions == shape[0] and name not in BITS:
        return tensor_scalar(spread(x, shape), name, y, False, out_type, mask, into, engine)
    x = spread(x, shape, in_psum=y.space != PSUM)
    y = spread(y, shape, in_psum=x.space != PSUM)
    if x.space == PSUM and y.space == PSUM:
        y = in_sbuf(y)
    out = temp(shape, out_type) if into is None else into
    whole = name in ("add", "sub", "mul") and all(_dtypes.size_of(v) == 4 and is_integer(v)
                                                  for v in (x.code, y.code, out.code))
    if whole or name == "pow":
        engine, x, y = GPSIMD, in_sbuf(x), in_sbuf(y)
    elif engine == ANY:
        engine = VECTOR
    put("tensor_tensor", engine, out, x, y, alu0=ALU[name], mask=mask)
    return out


def tensor_scalar(data, name, operand, reverse, out_type, mask=None, into=None, engine=ANY):
    data = tile(data)
    out = temp(data.shape, out_type) if into is None else into
    if name == "pow":
        engine, data = GPSIMD, in_sbuf(data)
    extra = None
    if is_tile(operand):
        operand = tile(operand)
    elif whole(operand) and is_integer(data.code):
        extra, operand = {"ints": [signed(operand), 0, 0, 0]}, None
        engine = VECTOR if engine == ANY else engine
    else:
        operand = float(operand)
    put("tensor_scalar", engine, out, data, operand, alu0=ALU[name], flags=REVERSE0 if reverse else 0, mask=mask,
        extra=extra)
    return out


def whole(x):
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def signed(x):
    """The 32 bits of a number as the signed one that has them."""
    x = int(x) & 0xFFFFFFFF
    return x - (1 << 32) if x >= 1 << 31 else x


def activation(fn, data, bias=None, scale=1.0, dtype=None, mask=None, into=None):
    """f(data * scale + bias) on ScalarE."""
    data = tile(data, "input of an activation")
    out = temp(data.shape, code(dtype, data.code)) if into is None else into
    put("activation", SCALAR, out, data, scale_of(scale), bias_of(bias, data), fn=fn, mask=mask)
    return out


def scale_of(scale):
    return tile(scale, "scale") if is_tile(scale) else float(scale)


def bias_of(bias, data):
    """A bias is a tile: a number becomes one."""
    if bias is None:
        return None
    if is_tile(bias):
        return tile(bias, "bias")
    if float(bias) == 0:
        return None
    return current().constant(float(bias))._cut(0, 0, data.partitions)


def reduction(name, data, axis, dtype=None, mask=None, keepdims=False, negate=False):
    """The ALU operation over the last axes of a tile, on VectorE."""
    data = tile(data, "input of a reduction")
    axes = sorted(a + data.ndim if a < 0 else a for a in ([axis] if isinstance(axis, (int, np.integer)) else list(axis)))
    if not axes or axes[0] == 0:
        raise error("a reduction over partitions", "transpose first, or multiply with ones on TensorE")
    if axes != list(range(axes[0], data.ndim)):
        raise error(f"axes {axes} are not the last ones of {data.ndim}", "reduce the last axes")
    outer, n = list(data.shape[:axes[0]]), 1
    for s in data.shape[axes[0]:]:
        n *= s
    mask = mask_of(mask)
    source = data._masked(mask) if mask is not None else data
    kept = [source.shape[d] for d in range(axes[0])]
    out = temp(outer, code(dtype, data.code))
    where = out
    for d, size in enumerate(kept):
        if size != outer[d]:
            where = where._cut(d, source.start - data.start if d == 0 else 0, size)
    put("tensor_reduce", VECTOR, where, inner(source, axes[0]), alu0=ALU[name],
        extra={"negate": True} if negate else None)
    if keepdims:
        return out._reshape(outer + [1] * (data.ndim - axes[0]))
    return out if len(outer) > 1 else out._reshape([outer[0], 1])


def inner(data, first):
    """The tile with all axes from `first` on as one; a copy where memory does not join them."""
    n = 1
    for s in data.shape[first:]:
        n *= s
    sizes = list(data.shape[:first]) + [n]
    if first == 1 and len(sizes) == 2 and data.ndim == 2:
        return data
    from trnsim._errors import Error
    try:
        return data._reshape(sizes)
    except Error:
        out = temp(data.shape, data.code)
        current().copy(out, data)
        return out._reshape(sizes)
