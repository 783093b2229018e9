"""Number formats: NumPy's dtypes, NKI's names for them, and the machine's codes."""
import numpy as np

from trnsim import _core

bfloat16 = np.dtype(_core.bfloat16)
float8_e4m3 = np.dtype(_core.float8_e4m3)
float8_e5m2 = np.dtype(_core.float8_e5m2)
tfloat32 = np.dtype("V4")

_CODES = _core.dtypes
_ML_DTYPES = {("bfloat16", 2): bfloat16, ("float8_e4m3", 1): float8_e4m3, ("float8_e5m2", 1): float8_e5m2}
_OF = {
    np.dtype(np.float32): "fp32", tfloat32: "tf32", bfloat16: "bf16", np.dtype(np.float16): "fp16",
    float8_e4m3: "fp8_e4m3", float8_e5m2: "fp8_e5m2", np.dtype(np.int32): "int32", np.dtype(np.uint32): "uint32",
    np.dtype(np.int16): "int16", np.dtype(np.uint16): "uint16", np.dtype(np.int8): "int8",
    np.dtype(np.uint8): "uint8", np.dtype(np.bool_): "uint8",
}
FP32, TF32, BF16, FP16 = (_CODES[n] for n in ("fp32", "tf32", "bf16", "fp16"))
INT32, UINT32, UINT16, UINT8 = (_CODES[n] for n in ("int32", "uint32", "uint16", "uint8"))
FP8 = {_CODES["fp8_e4m3"], _CODES["fp8_e5m2"]}
REAL = {FP32, TF32, BF16, FP16} | FP8
_SIZES = {_CODES[n]: np.dtype(d).itemsize for d, n in _OF.items()}
_DTYPES = {}
for _d, _n in _OF.items():
    _DTYPES.setdefault(_CODES[_n], _d)
_cache = {}


for _name, _type in (("bfloat16", bfloat16), ("float8_e4m3", float8_e4m3), ("float8_e5m2", float8_e5m2),
                     ("tfloat32", tfloat32)):
    np.sctypeDict.setdefault(_name, _type)  # np.dtype("bfloat16")


class DType(str):
    """A number format of the newer dialect, where types are texts: their names. NumPy takes it for its own type."""
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        if isinstance(other, str) or other is None:
            return str.__eq__(self, other) is True
        try:
            return np.dtype(other) == np.dtype(str(self))
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    name = property(str)
    itemsize = property(lambda self: np.dtype(str(self)).itemsize)


class LaterFormat(DType):
    """A number format that a later chip has: kernels compare types with it; no tensor is made of it."""
    __slots__ = ()


def ours(dtype):
    """The machine's type of the same bits as a type of the package ml_dtypes, which JAX brings; others as they are."""
    return _ML_DTYPES.get((dtype.type.__name__, dtype.itemsize), dtype)


def code(dtype, otherwise=None):
    """The machine's code of a dtype in any of the forms that NKI accepts."""
    if dtype is None:
        return otherwise
    try:
        return _cache[dtype]
    except (KeyError, TypeError):
        pass
    if isinstance(dtype, LaterFormat):
        from trnsim._errors import Error
        raise Error(_core._line(), f"nl.{dtype} is a number format of NeuronCore-v4",
                    "use float8_e4m3, float8_e5m2 or bfloat16")
    try:
        found = _CODES[_OF[ours(np.dtype(dtype))]]
    except (KeyError, TypeError):
        from trnsim._errors import Error
        raise Error(_core._line(), f"{dtype} is not a type of the machine",
                    "use float32, bfloat16, float16, a float8 or an integer of 32 bits or fewer") from None
    _cache[dtype] = found
    return found


def dtype_of(number):
    return _DTYPES[number]


_TEXTS = {number: DType("tfloat32" if number == TF32 else dtype.name) for number, dtype in _DTYPES.items()}


def text_of(number):
    """The type as the newer dialect has it."""
    return _TEXTS[number]


def size_of(number):
    return _SIZES[number]


def is_integer(number):
    return number >= INT32


_INT_RANK = {_CODES["uint8"]: (8, 0), _CODES["int8"]: (8, 1), _CODES["uint16"]: (16, 0), _CODES["int16"]: (16, 1),
             _CODES["uint32"]: (32, 0), _CODES["int32"]: (32, 1)}
_INT_OF = {v: k for k, v in _INT_RANK.items()}
_promoted = {}


def promote(a, b):
    """NKI's type promotion (nki.language, "NKI Type Promotion"). Codes in, code out."""
    if a == b:
        return a
    key = (a, b)
    if key not in _promoted:
        _promoted[key] = _promote(a, b)
    return _promoted[key]


def _promote(a, b):
    if is_integer(a) != is_integer(b):
        return b if is_integer(a) else a
    if is_integer(a):
        (x, sx), (y, sy) = _INT_RANK[a], _INT_RANK[b]
        if sx == sy:
            return a if x > y else b
        signed, unsigned = (x, y) if sx else (y, x)
        need = signed if signed > unsigned else unsigned * 2
        return _INT_OF[(need, 1)] if need <= 32 else FP32
    if a in FP8 and b in FP8:
        return BF16
    if a in FP8 or b in FP8:
        return b if a in FP8 else a
    if {a, b} == {BF16, FP16}:
        return FP32
    order = [BF16, FP16, TF32, FP32]
    return max(a, b, key=order.index)


def of_scalar(value):
    """The type of a number beside a tile: its own, or the widest of its kind."""
    if isinstance(value, np.generic):
        if value.dtype == np.float64:
            return FP32
        if value.dtype == np.int64:
            return INT32
        return code(value.dtype)
    if isinstance(value, bool):
        return UINT8
    return INT32 if isinstance(value, int) else FP32
