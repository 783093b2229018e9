"""nki.language: tensors, loops, element-wise operations, reductions. Lowered as the documentation of SDK 2.26 says."""
import builtins
import linecache
import re

import numpy as np

from trnsim import _core
from trnsim.nki import _emit as e
from trnsim.nki import _dtypes
from trnsim.nki._dtypes import FP32, code, is_integer
from trnsim.nki._emit import ALU, FN, binary, is_tile, put, temp, tile
from trnsim.nki._state import HBM, PSUM, SBUF, current, error, missing, state

# ---- types and sizes
float32, float16 = np.float32, np.float16
int8, int16, int32, uint8, uint16, uint32 = np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32
bool_ = np.bool_
bfloat16, tfloat32, float8_e4m3, float8_e5m2 = (_dtypes.bfloat16, _dtypes.tfloat32, _dtypes.float8_e4m3,
                                                _dtypes.float8_e5m2)


class tile_size:
    pmax = 128
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    psum_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1
    total_available_sbuf_size = 24 * 1024 * 1024 - 128 * 16 * 1024


class constants:
    sbuf_min_align, psum_min_align = 1, 4


class fp32:
    min = float(np.finfo(np.float32).min)
    max = float(np.finfo(np.float32).max)


# ---- buffers
class Buffer:
    """Where a tensor lies; `place` puts each of its blocks."""

    def __init__(self, name, space, shared=False, place=None):
        self.name, self.space, self.shared, self.place = name, space, shared, place

    def __repr__(self):
        return f"nl.{self.name}"


sbuf, psum = Buffer("sbuf", SBUF), Buffer("psum", PSUM)
hbm, private_hbm, shared_hbm = Buffer("hbm", HBM), Buffer("private_hbm", HBM), Buffer("shared_hbm", HBM, True)


# ---- indices
class ParDim(int):
    """A size that is that of the partitions."""


def par_dim(size):
    return ParDim(size)


_aranges = {}


def arange(*args):
    """Index values [start, stop)."""
    found = _aranges.get(args)
    if found is None:
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        found = _aranges[args] = _core.Affine.arange(int(start), int(stop), int(step))
    return found


class Grid(tuple):
    """What nl.mgrid gives: index tiles .p, .x, .y, ..."""
    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])
    w = property(lambda self: self[4])


class _Mgrid:
    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        zero = None
        axes = []
        for d, s in enumerate(key):
            index = arange(int(s.start or 0), int(s.stop), int(s.step or 1))
            index = index[tuple(slice(None) if k == d else None for k in range(len(key)))]
            axes.append(index)
            zero = index * 0 if zero is None else zero + index * 0
        return Grid(a + zero for a in axes)


mgrid = _Mgrid()


def ds(start, size):
    """A slice of `size` elements from `start` on."""
    return slice(start, start + size) if not isinstance(start, (_core.View, _core.TileIndex)) else \
        _core.Affine.arange(0, int(size), 1) + start


def _numbers(args):
    for a in args:
        if isinstance(a, _core.View):
            raise error("a loop runs as often as a tile says, which is known at run time only", "use a shape, or a number")
    return [int(a) for a in args]


def affine_range(*args, **_):
    return range(*_numbers(args))


def sequential_range(*args, **_):
    return range(*_numbers(args))


def static_range(*args, **_):
    return range(*_numbers(args))


# ---- programs of a grid
def program_id(axis):
    if axis >= len(state.grid):
        raise error(f"the launch grid has {len(state.grid)} axes, no axis {axis}", "launch it as kernel[grid](...)")
    return state.program[axis]


def num_programs(axes=None):
    if axes is None:
        return int(np.prod(state.grid)) if state.grid else 1
    if isinstance(axes, int):
        return state.grid[axes]
    return int(np.prod([state.grid[a] for a in axes]))


def program_ndim():
    return len(state.grid)


class nc(int):
    """So many cores in the launch grid."""


def spmd_dim(*sizes):
    return int(np.prod([int(s) for s in sizes]))


# ---- tensors
def ndarray(shape, dtype, *, buffer=None, name="", fill=None, lazy_initialization=False, **_):
    """A tensor of the kernel; axes in front of nl.par_dim count its blocks."""
    current()
    buffer = sbuf if buffer is None else buffer
    sizes = [shape] if isinstance(shape, int) else list(shape)
    if buffer.space == HBM:
        return _hbm_tensor([int(s) for s in sizes], dtype, buffer, name, fill)
    axis = next((d for d, s in enumerate(sizes) if isinstance(s, ParDim)), 0)
    sizes = [int(s) for s in sizes]
    places = [] if state.direct or buffer.place is None else _places(buffer, sizes, axis, dtype)
    if fill is None and buffer.space == PSUM:
        fill = 0.0
    return current().tensor(buffer.space, code(dtype), sizes, axis, None if fill is None else float(fill), name, places)


def _places(buffer, sizes, axis, dtype):
    size = _dtypes.size_of(code(dtype))
    for s in sizes[axis + 1:]:
        size *= s
    blocks = sizes[:axis]
    out = [buffer.place(tuple(i), sizes[axis], size) for i in np.ndindex(*blocks)] if blocks else \
        [buffer.place((), sizes[axis], size)]
    return [(int(p), int(b)) for p, b in out]


def _hbm_tensor(sizes, dtype, buffer, name, fill, array=None):
    number = code(dtype)
    if buffer.shared and array is None:
        if state.next_shared < len(state.shared):
            state.next_shared += 1
            return state.shared[state.next_shared - 1]
        state.next_shared += 1
    view = current().tensor(HBM, number, sizes, 0, None, name or f"tensor{len(state.tensors)}", [])
    state.tensors.append((view, name, number, tuple(sizes)))
    if fill:
        array = np.full(sizes, fill).astype(_dtypes.dtype_of(number))
    if array is not None:
        state.constants.append((view.reg, array))
    if buffer.shared and len(state.shared) < state.next_shared and array is None:
        state.shared.append(view)
    return view


def zeros(shape, dtype, *, buffer=None, name="", **kw):
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=0.0, **kw)


def ones(shape, dtype, *, buffer=None, name="", **kw):
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=1.0, **kw)


def full(shape, fill_value, dtype, *, buffer=None, name="", **kw):
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=float(fill_value), **kw)


def zeros_like(a, dtype=None, *, buffer=None, name="", **kw):
    return zeros(a.shape, dtype or a.dtype, buffer=buffer, name=name, **kw)


def empty_like(a, dtype=None, *, buffer=None, name="", **kw):
    return ndarray(a.shape, dtype or a.dtype, buffer=buffer, name=name, **kw)


def shared_constant(constant, dtype=None, **_):
    """A constant in HBM."""
    array = np.asarray(constant)
    if dtype is not None:
        array = array.astype(_dtypes.dtype_of(code(dtype)))
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    if array.dtype == np.int64:
        array = array.astype(np.int32)
    return _hbm_tensor(list(array.shape), array.dtype, hbm, "constant", None, np.ascontiguousarray(array))


def shared_identity_matrix(n, dtype=np.uint8, **_):
    return shared_constant(np.identity(n).astype(_dtypes.dtype_of(code(dtype))))


def _draw():
    state.rng = getattr(state, "rng", 0) + 1
    return {"rng": state.rng}


def rand(shape, dtype=np.float32, **_):
    """Numbers from 0 to 1: random bits, scaled."""
    bits = temp([int(s) for s in shape], _dtypes.UINT32)
    put("rng", e.VECTOR, bits, extra=_draw())
    upper = binary("shr", bits, 8, np.uint32)
    return binary("mul", upper, 2.0 ** -24, dtype)


def random_seed(seed, *, mask=None, **_):
    """From here on `rand` draws the numbers that belong to this seed."""
    if is_tile(seed):
        number = tile(seed)
    else:
        number = temp([1, 1], _dtypes.UINT32)
        put("memset", e.VECTOR, number, extra={"ints": [e.signed(seed), 0, 0, 0]})
    put("set_rng_seed", e.VECTOR, None, number)


# ---- moving data
def load(src, *, mask=None, dtype=None, **_):
    """A tile in SBUF with what lies in HBM."""
    if not is_tile(src) or src.space != HBM:
        raise error("nl.load reads HBM", "copy tiles with nl.copy")
    shape = list(src.shape) if src.ndim > 1 else [src.shape[0] if src.ndim else 1, 1]
    out = temp(shape, code(dtype, src.code))
    _transfer(out, src, mask)
    return out


def _transfer(dst, src, mask=None, accumulate=False, skip=False):
    """dst = src by DMA, whichever of them is in HBM or indexed by values."""
    mask = e.mask_of(mask)
    flags = e.ACCUMULATE if accumulate else 0
    extra = {"skip": True} if skip else None
    if mask is not None:
        dst, src = dst._masked(mask), src._masked(mask)
        if dst.empty():
            return
    if src.indirect:
        put("dma_gather", e.SYNC, dst, src._rows(), _index_of(src), flags=flags, extra=extra)
    elif dst.indirect:
        put("dma_scatter", e.GPSIMD, dst._rows(), src, _index_of(dst), flags=flags, extra=extra)
    else:
        put("dma_copy", e.SYNC, dst, src, flags=flags)


def _index_of(view):
    index = tile(view.index, "index")
    if index.cols != 1 and index.one_column:  # nl.mgrid repeats the partition's index over the free axis
        for axis in range(1, index.ndim):
            index = index._cut(axis, 0, 1)
    if index.cols != 1:
        index = index._reshape([index.partitions * index.cols, 1]) if index.partitions == 1 else index
    if index.code != _dtypes.INT32:
        if _dtypes.size_of(index.code) == 4 and is_integer(index.code):
            return index._as(_dtypes.INT32)
        number = temp(index.shape, _dtypes.INT32)
        current().copy(number, index)
        return number
    return index


def store(dst, value, *, mask=None, **_):
    """Writes a tile to HBM."""
    if not is_tile(dst) or dst.space != HBM:
        raise error("nl.store writes to HBM", "assign to a tile with tile[...] = value")
    if not is_tile(value):
        shape = [dst.shape[0], int(np.prod(dst.shape[1:]))]
        number, value = value, temp(shape, dst.code)
        put("memset", e.ANY, value, imm=(float(number), 0, 0, 0))
        value = value._reshape(list(dst.shape))
    if value.space == HBM:
        raise error("nl.store takes a tile in SBUF", "load it first, or use nisa.dma_copy")
    value = e.in_sbuf(value)
    if value.size != dst.size and not dst.indirect:
        value = e.spread(value, dst.shape)
    _transfer(dst, value, mask)


def load_transpose2d(src, *, mask=None, dtype=None, **_):
    out = temp([src.shape[1], src.shape[0]], code(dtype, src.code))
    put("dma_transpose", e.SYNC, out, src)
    return out


def atomic_rmw(dst, value, op, *, mask=None, **_):
    if e.alu_name(op) != "add":
        raise error("atomic_rmw adds only", "use np.add")
    if not is_tile(value):
        number, value = value, temp(dst.shape, dst.code)
        put("memset", e.ANY, value, imm=(float(number), 0, 0, 0))
    _transfer(dst, e.in_sbuf(value), mask, accumulate=True)


def copy(src, *, mask=None, dtype=None, **_):
    src = tile(src, "source of a copy")
    out = temp(src.shape, code(dtype, src.code))
    put("tensor_copy", e.ANY, out, src, mask=mask)
    return out


def _assign(target, value):
    """target[...] = value, for all that is not a tile of that size."""
    if isinstance(value, _LoopReduce):
        return value.into(target)
    if not is_tile(value):
        if target.space == HBM:
            return store(target, value)
        put("memset", e.VECTOR if target.space == PSUM else e.ANY, target, imm=(float(value), 0, 0, 0))
        return None
    if target.space == HBM:
        return store(target, value)
    if value.space == HBM:
        raise error("a tile on the chip is assigned a tensor in HBM", "use nl.load")
    if value.indirect or target.indirect:
        raise error("a tile that values index is assigned", "use nisa.tensor_copy_dynamic_src or _dst")
    current().copy(target, value)
    return None


def expand_dims(data, axis):
    return data.expand_dims(axis)


def broadcast_to(src, *, shape, **_):
    """The tile repeated to `shape`: across partitions a new tile, by TensorE."""
    if tuple(src.shape) == tuple(shape):
        return src
    return e.spread(tile(src), [int(s) for s in shape])


def transpose(x, *, dtype=None, mask=None, **_):
    from trnsim.nki import isa
    out = isa.nc_transpose(x, mask=mask)
    return copy(out, dtype=dtype or x.dtype)


# ---- element by element
def _two(name, alu, boolean=False):
    def op(x, y, *, dtype=None, mask=None, **_):
        return binary(alu, x, y, dtype, mask)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of tiles and numbers, element by element."
    return op


add, subtract, multiply, divide = (_two(n, e._NAMES[n]) for n in ("add", "subtract", "multiply", "divide"))
maximum, minimum, power = (_two(n, e._NAMES[n]) for n in ("maximum", "minimum", "power"))
bitwise_and, bitwise_or, bitwise_xor = (_two(n, e._NAMES[n]) for n in ("bitwise_and", "bitwise_or", "bitwise_xor"))
left_shift, right_shift = _two("left_shift", "shl"), _two("right_shift", "shr")
equal, not_equal, greater = (_two(n, e._NAMES[n]) for n in ("equal", "not_equal", "greater"))
greater_equal, less, less_equal = (_two(n, e._NAMES[n]) for n in ("greater_equal", "less", "less_equal"))


logical_and, logical_or, logical_xor = (_two(n, n) for n in ("logical_and", "logical_or", "logical_xor"))


def logical_not(x, *, dtype=bool, mask=None, **_):
    return binary("eq", x, 0.0, dtype, mask)


def invert(x, *, dtype=None, mask=None, **_):
    """The bits of whole numbers turned round."""
    x = tile(x)
    return e.tensor_scalar(x, "not", 0, False, code(dtype, x.code), mask)


bitwise_not = invert


def _binary_into(name, target, value):
    binary(e._NAMES.get(name, name), target, value, into=target)


def _one(name, fn):
    def op(x, *, dtype=None, mask=None, **_):
        return e.activation(FN[fn], x, dtype=dtype, mask=mask)
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"{name} of a tile, element by element, on ScalarE."
    return op


exp, log, sqrt, rsqrt, sin, tanh, arctan = (_one(n, n) for n in ("exp", "log", "sqrt", "rsqrt", "sin", "tanh", "arctan"))
erf, erf_dx, relu, sigmoid, gelu = (_one(n, e._FUNCTIONS[n]) for n in ("erf", "erf_dx", "relu", "sigmoid", "gelu"))
gelu_dx, gelu_apprx_tanh, silu, silu_dx = (_one(n, e._FUNCTIONS[n]) for n in
                                           ("gelu_dx", "gelu_apprx_tanh", "silu", "silu_dx"))
softplus, mish, square, sign = (_one(n, n) for n in ("softplus", "mish", "square", "sign"))
abs = _one("abs", "abs")


def reciprocal(x, *, dtype=None, mask=None, **_):
    x = tile(x)
    out = temp(x.shape, code(dtype, x.code))
    put("reciprocal", e.ANY, out, x, mask=mask)
    return out


gelu_apprx_sigmoid = _one("gelu_apprx_sigmoid", "gelu_sigmoid")


def cos(x, *, dtype=None, mask=None, **_):
    """sin(x + pi / 2), within what ScalarE's sine takes: [-pi, pi]."""
    x = tile(x)
    turned = binary("add", x, float(np.pi / 2), np.float32, mask)
    over = binary("gt", turned, float(np.pi), np.float32, mask)
    back = temp(x.shape, FP32)
    put("scalar_tensor_tensor", e.VECTOR, back, over, float(-2 * np.pi), turned, alu0=ALU["mul"], alu1=ALU["add"], mask=mask)
    return e.activation(FN["sin"], back, dtype=dtype or x.dtype, mask=mask)


def tan(x, *, dtype=None, mask=None, **_):
    return binary("div", sin(x, dtype=np.float32, mask=mask), cos(x, dtype=np.float32, mask=mask), dtype or x.dtype, mask)


def _rounded(x, mask):
    """The nearest whole number, as fp32: through int32."""
    whole = temp(x.shape, _dtypes.INT32)
    put("tensor_copy", e.VECTOR, whole, x, mask=mask)
    out = temp(x.shape, FP32)
    put("tensor_copy", e.VECTOR, out, whole, mask=mask)
    return out


def floor(x, *, dtype=None, mask=None, **_):
    x = tile(x)
    near = _rounded(x, mask)
    return binary("sub", near, binary("gt", near, x, np.float32, mask), dtype or x.dtype, mask)


def ceil(x, *, dtype=None, mask=None, **_):
    x = tile(x)
    near = _rounded(x, mask)
    return binary("add", near, binary("lt", near, x, np.float32, mask), dtype or x.dtype, mask)


def trunc(x, *, dtype=None, mask=None, **_):
    x = tile(x)
    size = floor(abs(x, dtype=np.float32, mask=mask), dtype=np.float32, mask=mask)
    return binary("mul", size, sign(x, dtype=np.float32, mask=mask), dtype or x.dtype, mask)


def _remainder(x, y, whole, dtype, mask):
    out = e.elementwise_dtype("sub", x, y, dtype)
    ratio = whole(binary("div", x, y, np.float32, mask), dtype=np.float32, mask=mask)
    return binary("sub", x, binary("mul", ratio, y, np.float32, mask), _dtypes.dtype_of(out), mask)


def fmod(x, y, dtype=None, mask=None, **_):
    return _remainder(x, y, trunc, dtype, mask)


def mod(x, y, dtype=None, mask=None, **_):
    return _remainder(x, y, floor, dtype, mask)


def where(condition, x, y, *, dtype=None, mask=None, **_):
    """x where the condition holds, else y."""
    condition = tile(condition)
    shape = _core.common(condition, x) if is_tile(x) else condition.shape
    if is_tile(y):
        shape = _core.common(e.spread(condition, shape), tile(y))
    out_type = e.elementwise_dtype("add", x, y, dtype) if is_tile(x) else code(dtype, y.code if is_tile(y) else FP32)
    if _dtypes.size_of(condition.code) > 2 or not is_integer(condition.code):
        condition = binary("ne", condition, 0.0, np.uint8, mask)
    condition = e.spread(condition, shape)
    if not is_tile(x):
        number, x = x, temp(shape, FP32)
        put("memset", e.ANY, x, imm=(float(number), 0, 0, 0))
    x = e.spread(tile(x), shape)
    if x.space == PSUM and condition.space == PSUM:
        x = e.in_sbuf(x)
    out = temp(shape, out_type)
    otherwise = e.spread(tile(y), shape) if is_tile(y) else None
    put("select", e.VECTOR, out, x, condition, otherwise, imm=(0.0 if otherwise is not None else float(y), 0, 0, 0), mask=mask)
    return out


# ---- over axes
def sum(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    return e.reduction("add", x, axis, dtype, mask, keepdims)


def prod(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    return e.reduction("mul", x, axis, dtype, mask, keepdims)


def max(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    return e.reduction("max", x, axis, dtype, mask, keepdims)


def min(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    return e.reduction("min", x, axis, dtype, mask, keepdims)


def all(x, axis, *, dtype=bool, mask=None, **_):
    return e.reduction("min", binary("ne", x, 0.0, np.uint8, mask), axis, dtype, mask)


def _count(x, axis, mask):
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    data = x if mask is None else x._masked(e.mask_of(mask))
    n = 1
    for a in axes:
        n *= data.shape[a]
    return builtins.max(n, 1)


def mean(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    x = tile(x)
    out = code(dtype, FP32 if is_integer(x.code) else x.code)
    total = e.reduction("add", x, axis, np.float32, mask, keepdims)
    return binary("mul", total, 1.0 / _count(x, axis, mask), _dtypes.dtype_of(out))


def var(x, axis, *, dtype=None, mask=None, **_):
    x = tile(x)
    out = code(dtype, FP32 if is_integer(x.code) else x.code)
    middle = mean(x, axis, dtype=np.float32, mask=mask, keepdims=True)
    apart = binary("sub", x, middle, np.float32, mask)
    total = e.reduction("add", square(apart, mask=mask), axis, np.float32, mask)
    return binary("mul", total, 1.0 / _count(x, axis, mask), _dtypes.dtype_of(out))


def softmax(x, axis, *, dtype=None, compute_dtype=None, mask=None, **_):
    x = tile(x)
    out = _dtypes.dtype_of(code(dtype or compute_dtype, x.code))
    most = max(x, axis, dtype=np.float32, mask=mask, keepdims=True)
    powers = exp(binary("sub", x, most, np.float32, mask), dtype=np.float32, mask=mask)
    total = sum(powers, axis, dtype=np.float32, mask=mask, keepdims=True)
    return binary("mul", powers, reciprocal(total), out, mask)


def rms_norm(x, w, axis, n, epsilon=1e-6, *, dtype=None, compute_dtype=None, mask=None, **_):
    x = tile(x)
    out = _dtypes.dtype_of(code(dtype or compute_dtype, x.code))
    total = sum(square(x, dtype=np.float32, mask=mask), axis, dtype=np.float32, mask=mask, keepdims=True)
    scale = e.activation(FN["rsqrt"], total, bias=epsilon, scale=1.0 / n, dtype=np.float32)
    normal = binary("mul", x, scale, np.float32 if is_tile(w) else out, mask)
    return binary("mul", normal, w, out, mask) if is_tile(w) else normal


def dropout(x, rate, *, dtype=None, mask=None, **_):
    from trnsim.nki import isa
    x = tile(x)
    kept = isa.dropout(x, rate, dtype=dtype, mask=mask)
    return kept


def gather_flattened(data, indices, *, mask=None, dtype=None, **_):
    from trnsim.nki import isa
    return isa.nc_n_gather(data, indices, mask=mask, dtype=dtype)


class _LoopReduce:
    """x reduced into what it is assigned to; the first time through its loops it is the result."""

    def __init__(self, x, op, indices, dtype, mask):
        self.x, self.op, self.first = x, e.alu_name(op), builtins.all(int(i) == 0 for i in indices)
        self.dtype, self.mask = dtype, mask

    def into(self, target):
        if self.first:
            put("tensor_copy", e.ANY, target, tile(self.x), mask=self.mask)
        else:
            binary(self.op, target, self.x, mask=self.mask, into=target)
        return target


def loop_reduce(x, op, loop_indices, *, dtype=None, mask=None, **_):
    """x reduced over loops, into the tile that the result is assigned to."""
    indices = loop_indices if isinstance(loop_indices, (list, tuple)) else [loop_indices]
    out = _LoopReduce(x, op, indices, dtype, mask)
    import sys
    frame = sys._getframe(1)
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    name = re.match(r"\s*(\w+)\s*=[^=]", text)
    if not name:
        return out
    known = frame.f_locals.get(name.group(1))
    if is_tile(known):
        return binary(out.op, known, x, mask=mask, into=known)
    return copy(x, dtype=dtype, mask=mask)


def all_reduce(x, op, program_axes, *, dtype=None, mask=None, **_):
    if num_programs(program_axes) == 1:
        return copy(x, dtype=dtype, mask=mask)
    raise error("all_reduce over the programs of a grid is not modelled", "launch the kernel without that axis")


def matmul(x, y, *, transpose_x=False, mask=None, **_):
    """x @ y, or x.T @ y, in PSUM."""
    from trnsim.nki import isa
    if not transpose_x:
        x = transpose(x)
    return isa.nc_matmul(x, y, mask=mask)


def device_print(*_, **__):
    """Nothing: what a tile holds is known when the kernel has run."""


def static_assert(condition, message=""):
    if not condition:
        raise error(f"static_assert: {message}", "mend what it says")


__getattr__ = missing("nl")
