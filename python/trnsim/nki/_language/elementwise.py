"""nki.language: operations element by element."""
import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki._dtypes import FP32, code, is_integer
from trnsim.nki._emit import ALU, FN, Result, binary, is_tile, put, temp, tile
from trnsim.nki._state import PSUM


def _two(name, alu):
    def op(x, y, *, dtype=None, mask=None):
        return binary(alu, x, y, dtype, mask)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of tiles and numbers, element by element."
    return op


add, subtract, multiply, divide = (_two(n, e.NAMES[n]) for n in ("add", "subtract", "multiply", "divide"))
maximum, minimum, power = (_two(n, e.NAMES[n]) for n in ("maximum", "minimum", "power"))
bitwise_and, bitwise_or, bitwise_xor = (_two(n, e.NAMES[n]) for n in ("bitwise_and", "bitwise_or", "bitwise_xor"))
left_shift, right_shift = _two("left_shift", "shl"), _two("right_shift", "shr")
equal, not_equal, greater = (_two(n, e.NAMES[n]) for n in ("equal", "not_equal", "greater"))
greater_equal, less, less_equal = (_two(n, e.NAMES[n]) for n in ("greater_equal", "less", "less_equal"))


logical_and, logical_or, logical_xor = (_two(n, n) for n in ("logical_and", "logical_or", "logical_xor"))


def logical_not(x, *, dtype=bool, mask=None):
    return binary("eq", x, 0.0, dtype, mask)


def negative(x, *, dtype=None, mask=None):
    """-x element by element."""
    x = tile(x)
    if is_integer(x.code):
        return binary("sub", 0, x, dtype or x.dtype, mask)
    return binary("mul", x, -1.0, dtype or x.dtype, mask)


def invert(x, *, dtype=None, mask=None):
    """The bits of whole numbers turned round."""
    x = tile(x)
    return e.with_scalar(x, "not", 0, False, Result(dtype, mask), code(dtype, x.code))


bitwise_not = invert


def _one(name, fn):
    def op(x, *, dtype=None, mask=None):
        return e.activation(FN[fn], x, result=Result(dtype, mask))
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of a tile, element by element, on ScalarE."
    return op


exp, log, sqrt, rsqrt = (_one(n, n) for n in ("exp", "log", "sqrt", "rsqrt"))
sin, tanh, arctan = (_one(n, n) for n in ("sin", "tanh", "arctan"))
erf, erf_dx, relu, sigmoid, gelu = (_one(n, e.FUNCTIONS[n]) for n in ("erf", "erf_dx", "relu", "sigmoid", "gelu"))
gelu_dx, gelu_apprx_tanh, silu, silu_dx = (_one(n, e.FUNCTIONS[n]) for n in
                                           ("gelu_dx", "gelu_apprx_tanh", "silu", "silu_dx"))
softplus, mish, square, sign = (_one(n, n) for n in ("softplus", "mish", "square", "sign"))
abs = _one("abs", "abs")


def reciprocal(x, *, dtype=None, mask=None):
    x = tile(x)
    out = temp(x.shape, code(dtype, x.code))
    put("reciprocal", e.ANY, out, x, mask=mask)
    return out


gelu_apprx_sigmoid = _one("gelu_apprx_sigmoid", "gelu_sigmoid")


def cos(x, *, dtype=None, mask=None):
    """sin(x + pi / 2), within what ScalarE's sine takes: [-pi, pi]."""
    x = tile(x)
    turned = binary("add", x, float(np.pi / 2), np.float32, mask)
    over = binary("gt", turned, float(np.pi), np.float32, mask)
    back = temp(x.shape, FP32)
    put("scalar_tensor_tensor", e.VECTOR, back, over, float(-2 * np.pi), turned, alu0=ALU["mul"], alu1=ALU["add"],
        mask=mask)
    return e.activation(FN["sin"], back, result=Result(dtype or x.dtype, mask))


def tan(x, *, dtype=None, mask=None):
    top, bottom = sin(x, dtype=np.float32, mask=mask), cos(x, dtype=np.float32, mask=mask)
    return binary("div", top, bottom, dtype or x.dtype, mask)


_WHOLE = 2.0 ** 23  # from here on fp32 has no fractions


def _rounded(x, mask, steps):
    """The nearest whole number, through int32, and one step where the first comparison with x holds. Numbers without
    fractions, which int32 may not hold, infinities and NaN stay as they are."""
    compared, step, dtype = steps
    whole, near = temp(x.shape, _dtypes.INT32), temp(x.shape, FP32)
    put("tensor_copy", e.VECTOR, whole, x, mask=mask)
    put("tensor_copy", e.VECTOR, near, whole, mask=mask)
    end = binary(step, near, binary(compared, near, x, np.float32, mask), np.float32, mask)
    small, out = temp(x.shape, _dtypes.UINT8), temp(x.shape, code(dtype, x.code))
    put("tensor_scalar", e.VECTOR, small, x, 0.0, _WHOLE, alu0=ALU["absolute"], alu1=ALU["lt"], mask=mask)
    put("select", e.VECTOR, out, end, small, e.in_sbuf(x), mask=mask)
    return out


def floor(x, *, dtype=None, mask=None):
    x = tile(x)
    return _kept(x, dtype, mask) if is_integer(x.code) else _rounded(x, mask, ("gt", "sub", dtype))


def ceil(x, *, dtype=None, mask=None):
    x = tile(x)
    return _kept(x, dtype, mask) if is_integer(x.code) else _rounded(x, mask, ("lt", "add", dtype))


def _kept(x, dtype, mask):
    out = temp(x.shape, code(dtype, x.code))
    put("tensor_copy", e.ANY, out, x, mask=mask)
    return out


def trunc(x, *, dtype=None, mask=None):
    x = tile(x)
    if is_integer(x.code):
        return _kept(x, dtype, mask)
    size = floor(abs(x, dtype=np.float32, mask=mask), dtype=np.float32, mask=mask)
    return binary("mul", size, sign(x, dtype=np.float32, mask=mask), dtype or x.dtype, mask)


def _remainder(x, y, whole, dtype, mask):
    out = code(dtype, e.elementwise_type("sub", x, y))
    ratio = whole(binary("div", x, y, np.float32, mask), dtype=np.float32, mask=mask)
    return binary("sub", x, binary("mul", ratio, y, np.float32, mask), _dtypes.dtype_of(out), mask)


def fmod(x, y, dtype=None, mask=None):
    return _remainder(x, y, trunc, dtype, mask)


def mod(x, y, dtype=None, mask=None):
    return _remainder(x, y, floor, dtype, mask)


def _are_words(out_type, *values):
    """Whether all are integers of 32 bits, which fp32 does not hold."""
    return out_type in (_dtypes.INT32, _dtypes.UINT32) and all(
        v.code == out_type if is_tile(v) else e.whole(v) for v in values)


def _chosen_words(condition, x, y, out, mask):
    """A choice among integers of 32 bits: copies keep their bits, where VectorE's choice computes in fp32."""
    tiles = []
    for value in (x, y):
        tiles.append(e.spread(tile(value), out.shape) if is_tile(value) else temp(out.shape, out.code))
        if not is_tile(value):
            e.fill(e.ANY, tiles[-1], value)
    put("tensor_copy", e.VECTOR, out, tiles[1], mask=mask)
    chosen = e.in_sbuf(tiles[0]) if condition.space == PSUM else tiles[0]
    put("copy_predicated", e.VECTOR, out, chosen, condition, mask=mask)
    return out


def where(condition, x, y, *, dtype=None, mask=None):
    """x where the condition holds, else y."""
    operands = [tile(condition), *(tile(t) if is_tile(t) else t for t in (x, y))]
    longest = max(filter(is_tile, operands), key=lambda t: t.ndim)
    condition, x, y = (e.alike(t, longest)[0] if is_tile(t) else t for t in operands)
    shape = _core.common(condition, x) if is_tile(x) else condition.shape
    if is_tile(y):
        shape = _core.common(e.spread(condition, shape), tile(y))
    out_type = code(dtype, e.elementwise_type("add", x, y) if is_tile(x) else y.code if is_tile(y) else FP32)
    words = _are_words(out_type, x, y)
    if _dtypes.size_of(condition.code) > 2 or not is_integer(condition.code) or (
            words and condition.code not in (_dtypes.UINT8, _dtypes.UINT16)):
        condition = binary("ne", condition, 0.0, np.uint8, mask)
    condition = e.spread(condition, shape)
    if words:
        return _chosen_words(condition, x, y, temp(shape, out_type), mask)
    if not is_tile(x):
        number, x = x, temp(shape, FP32)
        put("memset", e.ANY, x, imm=e.number(number))
    x = e.spread(tile(x), shape)
    if x.space == PSUM and condition.space == PSUM:
        x = e.in_sbuf(x)
    out = temp(shape, out_type)
    otherwise = e.spread(tile(y), shape) if is_tile(y) else None
    put("select", e.VECTOR, out, x, condition, otherwise, imm=e.number(0 if is_tile(y) else y), mask=mask)
    return out
