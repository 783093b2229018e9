"""nki.language of the newer dialect: operations element by element, reductions, and what is made of several."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki._emit import is_tile, spread, tile
from trnsim.nki._language import composed, elementwise, moves
from trnsim.nki._newer.emit import NO_QUOTIENT, doubted
from trnsim.nki._state import error


def _two(name):
    older = getattr(elementwise, name)

    def op(x, y, dtype=None):
        if name == "divide" and (is_tile(x) or is_tile(y)):
            doubted(NO_QUOTIENT)
        return older(x, y, dtype=dtype)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of tiles and numbers, element by element."
    return op


def _one(name):
    older = getattr(elementwise, name)

    def op(x, dtype=None):
        return older(x, dtype=dtype)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of a tile, element by element."
    return op


def _reduced(name):
    older = getattr(composed, name)

    def op(x, axis, dtype=None, keepdims=False):
        return older(x, axis, dtype=dtype, keepdims=keepdims)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} over axes of a tile."
    return op


TWO = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "equal", "not_equal", "less",
       "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
       "right_shift", "logical_and", "logical_or", "logical_xor", "fmod", "mod")
ONE = ("abs", "square", "invert", "logical_not", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "gelu",
       "gelu_apprx_sigmoid", "gelu_apprx_tanh", "gelu_dx", "silu", "silu_dx", "softplus", "mish", "erf", "erf_dx",
       "reciprocal", "sin", "cos", "tan", "arctan", "ceil", "floor", "trunc", "negative", "sign")
REDUCED = ("sum", "max", "min", "mean", "prod")
OPERATIONS = {name: make(name) for names, make in ((TWO, _two), (ONE, _one), (REDUCED, _reduced)) for name in names}


def abs_max(x, y, dtype=None):
    raise error("nl.abs_max is of NeuronCore-v4 and later", "use nl.maximum of nl.abs, whose result has no sign")


def abs_min(x, y, dtype=None):
    raise error("nl.abs_min is of NeuronCore-v4 and later", "use nl.minimum of nl.abs, whose result has no sign")


def gelu_apprx_sigmoid_dx(x, dtype=None):
    """The derivative of x * sigmoid(1.702 x)."""
    x = tile(x)
    s = elementwise.sigmoid(elementwise.multiply(x, 1.702, dtype=np.float32), dtype=np.float32)
    slope = elementwise.multiply(elementwise.multiply(x, 1.702, dtype=np.float32),
                                 elementwise.subtract(1.0, s, dtype=np.float32), dtype=np.float32)
    return elementwise.multiply(s, elementwise.add(slope, 1.0, dtype=np.float32), dtype=dtype or x.dtype)


def prelu(x, dtype=None):
    raise error("nl.prelu is the op of nisa.activate2, which NeuronCore-v4 has", "use nl.maximum and nl.multiply")


def bypass(x, dtype=None):
    """No operation: the number itself, as an `op`."""
    return copy(x, dtype)


def average(x, dtype=None):
    raise error("nl.average is an op of pooling instructions, which this chip lacks", "use nl.mean")


def copy(x, dtype=None):
    return moves.copy(x, dtype=dtype)


def var(x, axis, dtype=None, keepdims=False):
    x = tile(x)
    out = composed.var(x, axis, dtype=dtype)
    if not keepdims:
        return out
    axes = {a % x.ndim for a in ([axis] if isinstance(axis, int) else axis)}
    return out._reshape([1 if d in axes else x.shape[d] for d in range(x.ndim)])


def all(x, axis, dtype=None):
    return composed.all(x, axis, dtype=bool if dtype is None else dtype)


def softmax(x, axis=-1, dtype=None):
    return composed.softmax(x, axis, dtype=dtype)


def rms_norm(x, w, axis, n, epsilon=1e-06, dtype=None, compute_dtype=None):
    doubted("nl.rms_norm multiplies a tile and a column by tensor_tensor, which neuronx-cc refuses (NKI 0.6.0)")
    return composed.rms_norm(x, w, axis, n, epsilon, dtype=dtype, compute_dtype=compute_dtype)


def where(condition, x, y, dtype=None):
    return elementwise.where(condition, x, y, dtype=dtype)


def dropout(x, rate, dtype=None):
    return composed.dropout(x, rate, dtype=dtype)


def transpose(x, dtype=None):
    return composed.transpose(x, dtype=dtype)


def matmul(x, y, transpose_x=False):
    return composed.matmul(x, y, transpose_x=transpose_x)


def gather_flattened(data, indices, axis=0, dtype=None):
    if axis != 0:
        raise error(f"gather_flattened along axis {axis}", "gather along the elements of each partition: axis 0")
    return composed.gather_flattened(data, indices, dtype=dtype)


def expand_dims(x, axis):
    return x.expand_dims(axis)


def broadcast_to(x, shape, dtype=None):
    out = x if tuple(x.shape) == tuple(shape) else spread(tile(x), [int(s) for s in shape])
    return out if dtype is None or _dtypes.code(dtype) == out.code else copy(out, dtype)
