"""nki.isa: the instructions of a NeuronCore-v2."""
import enum

import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes, _emit as e
from trnsim.nki import language as nl
from trnsim.nki._dtypes import FP32, code, is_integer
from trnsim.nki._emit import ALU, FN, alu_name, is_tile, put, temp, tile
from trnsim.nki._state import HBM, PSUM, SBUF, current, error, missing, state


class engine(enum.Enum):
    tensor, vector, scalar, gpsimd, sync, unknown = 0, 1, 2, 3, 4, -1


tensor_engine, vector_engine, scalar_engine = engine.tensor, engine.vector, engine.scalar
gpsimd_engine, sync_engine, unknown_engine = engine.gpsimd, engine.sync, engine.unknown


class reduce_cmd(enum.Enum):
    idle, reset, reset_reduce, reduce = 0, 1, 2, 3


class dge_mode(enum.Enum):
    none, swdge, hwdge, unknown = 0, 1, 2, 3


class oob_mode(enum.Enum):
    error, skip = 0, 1


class nc_version(enum.IntEnum):
    gen2, gen3 = 2, 3


class constants:
    engine = engine


def get_nc_version():
    return nc_version.gen2


def _engine(which):
    return which.value if isinstance(which, engine) else e.ANY


# ---- constants and counters
def memset(shape, value, dtype, *, mask=None, engine=engine.unknown, **_):
    out = temp([int(s) for s in ([shape] if isinstance(shape, int) else shape)], code(dtype))
    put("memset", _engine(engine), out, imm=(float(value), 0, 0, 0), mask=mask)
    return out


def _affine_rows(affine, what):
    """Sizes, constant, step of the partitions, steps of the free axes."""
    sizes = list(affine.shape)
    coefs = list(affine.coefficients)
    if len(sizes) == 1:
        sizes, coefs = sizes + [1], coefs + [0]
    if not sizes:
        raise error(f"{what} is one number", "use nl.arange or nl.mgrid")
    return sizes, affine.constant, coefs[0], coefs[1:]


def iota(expr, dtype, *, mask=None, **_):
    """Index values as numbers."""
    sizes, first, row, steps = _affine_rows(expr, "iota's expression")
    out = temp(sizes, code(dtype))
    for outer in np.ndindex(*sizes[1:-1]):
        part, start = out, first
        for d, i in enumerate(outer):
            part, start = part._cut(d + 1, i, 1), start + i * steps[d]
        put("iota", e.GPSIMD, part, imm=(float(start), float(row), float(steps[-1]), 0), mask=mask)
    return out


def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None, **_):
    data = e.in_sbuf(tile(on_true_tile))
    rules = pred.inequalities() if isinstance(pred, _core.Mask) else [pred]
    if len(rules) != 1:
        raise error("affine_select takes one inequality", "use nl.where for others")
    sizes, first, row, steps = _affine_rows(rules[0], "the predicate")
    out = temp(data.shape, code(dtype, data.code))
    full = [data.shape[d] for d in range(data.ndim)]
    steps = [0] * (data.ndim - 1 - len(steps)) + steps
    for outer in np.ndindex(*full[1:-1]):
        to, source, start = out, data, first
        for d, i in enumerate(outer):
            to, source, start = to._cut(d + 1, i, 1), source._cut(d + 1, i, 1), start + i * steps[d]
        put("affine_select", e.GPSIMD, to, source, alu0=ALU["ge"],
            imm=(float(start), float(row), float(steps[-1]), float(on_false_value)), mask=mask)
    return out


# ---- DMA
def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown, **_):
    add = dst_rmw_op is not None
    if add and alu_name(dst_rmw_op) != "add":
        raise error("dma_copy adds only", "use np.add")
    skip = oob_mode is globals()["oob_mode"].skip
    if dst.space == HBM and src.space == HBM and not dst.indirect and not src.indirect:
        return _hbm_to_hbm(dst, src, add)
    return nl._transfer(dst, src, mask, add, skip)


def _hbm_to_hbm(dst, src, add):
    rows = dst.shape[0]
    for r in range(0, rows, 128):
        n = min(128, rows - r)
        put("dma_copy", e.GPSIMD, dst._cut(0, r, n), src._cut(0, r, n), flags=e.ACCUMULATE if add else 0)


def dma_transpose(src, *, axes=None, mask=None, dtype=None, **_):
    orders = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
    order = orders.get(src.ndim)
    if order is None or (axes is not None and tuple(axes) != order):
        raise error(f"a DMA transpose of {src.ndim} axes by {axes}", "use (1, 0), (2, 1, 0) or (3, 1, 2, 0)")
    out = temp([src.shape[a] for a in order], code(dtype, src.code))
    for middle in np.ndindex(*src.shape[1:-1]):
        to, source = out, src
        for d, i in enumerate(middle):
            to, source = to._cut(d + 1, i, 1), source._cut(d + 1, i, 1)
        p, f = src.shape[0], src.shape[-1]
        put("dma_transpose", e.SYNC, to, source)
    return out


# ---- TensorE
def nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              tile_position=(), tile_size=(), mask=None, **_):
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
        extra = {}
        if is_stationary_onezero or is_moving_onezero:
            extra["onezero"] = True
        if tile_size:
            extra["pe"] = [int(tile_position[0]), int(tile_position[1]), int(tile_size[0]), int(tile_size[1])]
        put("matmul", e.TENSOR, to, stationary, moving, extra=extra or None)
    return out


def _matmul_mask(mask, out, stationary, moving):
    """A mask of partitions is of both operands; one of a free axis of that which is as long, the moving one first."""
    if mask is None:
        return out, stationary, moving
    for rule in mask.inequalities():
        one = _core.Mask() & _core.Mask()
        one = (rule >= 0)
        axes = [d for d, c in enumerate(rule.coefficients) if c and rule.shape[d] > 1]
        if not axes:
            out, moving = out._masked(one), moving._masked(one)
        elif axes[0] == 0:
            stationary, moving = stationary._masked(one), moving._masked(one)
        elif rule.shape[axes[0]] == moving.shape[min(axes[0], moving.ndim - 1)] or rule.shape[axes[0]] != stationary.cols:
            out, moving = out._masked(one), moving._masked(one)
        else:
            kept = stationary._masked(one)
            low = 0 if rule.coefficients[axes[0]] < 0 else stationary.cols - kept.cols
            out, stationary = out._cut(0, low, kept.cols), kept
    return out, stationary, moving


def nc_transpose(data, *, mask=None, dtype=None, engine=engine.unknown, **_):
    """Partitions and elements exchanged: on TensorE to PSUM, on VectorE up to 32 x 32."""
    data = tile(data)
    if mask is not None and e.mask_of(mask) is not None:
        data = data._masked(e.mask_of(mask))
    which = _engine(engine)
    small = data.partitions <= 32 and data.cols <= 32
    if which == e.VECTOR or (which == e.ANY and (small or is_integer(data.code))):
        out = temp([data.cols, data.partitions], data.code)
        put("vector_transpose", e.VECTOR, out, data)
    else:
        out = temp([data.cols, data.partitions], data.code, PSUM)
        put("pe_transpose", e.TENSOR, out, e.in_sbuf(data))
    return out if dtype is None or code(dtype) == data.code else nl.copy(out, dtype=dtype)


# ---- VectorE
def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=engine.unknown, **_):
    name = alu_name(op)
    if not is_tile(data1) or not is_tile(data2):
        raise error("tensor_tensor takes two tiles", "use tensor_scalar for numbers")
    data1, data2 = tile(data1), tile(data2)
    shape = _core.common(data1, data2)
    if data1.cols != data2.cols and 1 in (data1.cols, data2.cols):  # it reads each element again
        data1 = e.spread(data1, shape, in_psum=data2.space != PSUM)
        data2 = e.spread(data2, shape, in_psum=data1.space != PSUM)
        out = temp(shape, e.elementwise_dtype(name, data1, data2, dtype or nl.bool_ if False else dtype))
        put("tensor_tensor", e.GPSIMD if name == "pow" else e.VECTOR, out, data1, data2, alu0=ALU[name], mask=mask)
        return out
    if dtype is None and name in e.COMPARISONS:
        dtype = _dtypes.dtype_of(_dtypes.promote(data1.code, data2.code))
    return e.binary(name, data1, data2, dtype, mask, engine=_engine(engine))


def _operand(x, data):
    if x is None:
        return None
    if not is_tile(x):
        return float(x)
    x = tile(x)
    if x.partitions == 1 and data.partitions > 1:
        x = e.spread(x, [data.partitions, 1])
    return x


def _two_ops(op0, op1):
    names = alu_name(op0), alu_name(op1) if op1 is not None else "none"
    return names, (ALU[names[0]], ALU[names[1]])


def tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, dtype=None, mask=None,
                  engine=engine.unknown, **_):
    """(data op0 operand0) op1 operand1; operands are numbers or one for each partition."""
    data = tile(data)
    names, (alu0, alu1) = _two_ops(op0, op1)
    out = temp(data.shape, code(dtype, data.code))
    which = _engine(engine)
    if "pow" in names or ("inverse_sqrt" in names and which != e.SCALAR):
        which, data = e.GPSIMD, e.in_sbuf(data)
    if which == e.SCALAR:
        return _on_scalar(data, names, operand0, operand1, out, mask)
    flags = (e.REVERSE0 if reverse0 else 0) | (e.REVERSE1 if reverse1 else 0)
    given = [o for o in (operand0, operand1) if o is not None]
    if is_integer(data.code) and given and all(e.whole(o) or is_tile(o) for o in given):
        b, c = (_operand(o, data) if is_tile(o) else None for o in (operand0, operand1))
        ints = [e.signed(o) if e.whole(o) else 0 for o in (operand0, operand1)] + [0, 0]
        put("tensor_scalar", e.VECTOR if which == e.ANY else which, out, data, b, c, alu0=alu0, alu1=alu1, flags=flags,
            mask=mask, extra={"ints": ints} if any(e.whole(o) for o in given) else None)
        return out
    b, c = _operand(operand0, data), _operand(operand1, data)
    put("tensor_scalar", which, out, data, b if b is not None else 0.0, c, alu0=alu0, alu1=alu1, flags=flags, mask=mask)
    return out


def _on_scalar(data, names, operand0, operand1, out, mask):
    """What ScalarE takes: a factor, then a bias."""
    if names[0] == "mul" and names[1] in ("none", "add"):
        return e.activation(FN["copy"], data, operand1, operand0, mask=mask, into=out)
    if names == ("add", "none"):
        return e.activation(FN["copy"], data, operand0, 1.0, mask=mask, into=out)
    raise error(f"ScalarE does not run {names[0]}, {names[1]}", "use nisa.vector_engine")


def scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, mask=None,
                         **_):
    data, other = tile(data), tile(operand1)
    _, (alu0, alu1) = _two_ops(op0, op1)
    if data.space == PSUM and other.space == PSUM:
        raise error("data and operand1 are both in PSUM", "copy one of them to SBUF")
    if tuple(other.shape) != tuple(data.shape) and other.cols != data.cols:
        other = e.spread(other, data.shape)
    out = temp(data.shape, code(dtype, data.code))
    flags = (e.REVERSE0 if reverse0 else 0) | (e.REVERSE1 if reverse1 else 0)
    put("scalar_tensor_tensor", e.VECTOR, out, data, _operand(operand0, data), other, alu0=alu0, alu1=alu1, flags=flags,
        mask=mask)
    return out


def tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None, **_):
    """result[i] = (data0[i] op0 result[i-1]) op1 data1[i]."""
    data0, data1 = tile(data0), tile(data1)
    shape = _core.common(data0, data1) if data0.cols != data1.cols else data0.shape
    data0, data1 = e.spread(data0, shape), e.spread(data1, shape)
    if data0.space == PSUM and data1.space == PSUM:
        raise error("data0 and data1 are both in PSUM", "copy one of them to SBUF")
    _, (alu0, alu1) = _two_ops(op0, op1)
    out = temp(shape, code(dtype, _dtypes.promote(data0.code, data1.code)))
    flags = (e.REVERSE0 if reverse0 else 0) | (e.REVERSE1 if reverse1 else 0)
    first = _operand(initial, data0)
    imm = (0.0, 0, 0, 0) if is_tile(first) else (first, 0, 0, 0)
    put("tensor_tensor_scan", e.VECTOR, out, data0, data1, first if is_tile(first) else None, alu0=alu0, alu1=alu1,
        imm=imm, flags=flags, mask=mask)
    return out


def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False, **_):
    return e.reduction(alu_name(op), data, axis, dtype, mask, keepdims, negate)


def tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None, **_):
    data = tile(data)
    out = temp(data.shape, code(dtype, data.code))
    put("tensor_scalar_reduce", e.VECTOR, out, data, _operand(operand0, data), dst2=tile(reduce_res), alu0=ALU[alu_name(op0)],
        alu1=ALU[alu_name(reduce_op)], flags=e.REVERSE0 if reverse0 else 0, mask=mask)
    return out


def tensor_partition_reduce(op, data, *, mask=None, dtype=None, **_):
    data = e.in_sbuf(tile(data))
    out = temp([1] + list(data.shape[1:]), code(dtype, data.code))
    if mask is not None and e.mask_of(mask) is not None:
        data = data._masked(e.mask_of(mask))
    put("partition_reduce", e.GPSIMD, out, data, alu0=ALU[alu_name(op)])
    return out


def reciprocal(data, *, dtype=None, mask=None, **_):
    return nl.reciprocal(data, dtype=dtype, mask=mask)


def bn_stats(data, *, mask=None, dtype=None, **_):
    data = tile(data)
    out = temp([data.shape[0], 6], code(dtype, data.code))
    put("bn_stats", e.VECTOR, *_kept(out, data, mask))
    return out


def bn_aggr(data, *, mask=None, dtype=None, **_):
    data = tile(data)
    out = temp([data.shape[0], 2], code(dtype, data.code))
    put("bn_aggr", e.VECTOR, *_kept(out, data, mask))
    return out


def _kept(out, data, mask):
    """What a mask leaves of the input, and as many partitions of the result."""
    mask = e.mask_of(mask)
    if mask is None:
        return out, data
    kept = data._masked(mask)
    return out._cut(0, kept.start - data.start, kept.partitions), kept


def dropout(data, prob, *, mask=None, dtype=None, **_):
    data = tile(data)
    out = temp(data.shape, code(dtype, data.code))
    b = _operand(prob, data) if is_tile(prob) else None
    put("dropout", e.VECTOR, out, data, b, imm=(0.0 if b is not None else float(prob), 1.0, 0, 0), mask=mask, extra=nl._draw())
    return out


# ---- ScalarE
def activation(op, data, *, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=reduce_cmd.idle, mask=None,
               dtype=None, **_):
    """op(data * scale + bias), and on request the sum over the elements of each partition."""
    fn = e.function(op)
    if fn is None:
        raise error(f"{getattr(op, '__name__', op)} is no function of ScalarE", "trnsim nki --list names those that are")
    commands = globals()["reduce_cmd"]
    if reduce_cmd is commands.idle and reduce_res is None:
        return e.activation(fn, data, bias, scale, dtype, mask)
    data = tile(data)
    out = temp(data.shape, code(dtype, data.code))
    extra = {"registers": _REGISTERS[reduce_cmd.name]} if reduce_res is None or reduce_cmd is not commands.idle else None
    put("activation" if reduce_res is None else "activation_reduce", e.SCALAR, out, data, e.scale_of(scale),
        e.bias_of(bias, data), dst2=None if reduce_res is None else tile(reduce_res), fn=fn, mask=mask, extra=extra)
    return out


_REGISTERS = {"idle": 1, "reset": 2, "reduce": 3, "reset_reduce": 4}  # isa::Registers


def activation_reduce(op, data, *, reduce_op, reduce_res, bias=None, scale=1.0, mask=None, dtype=None, **_):
    if alu_name(reduce_op) != "add":
        raise error("activation_reduce adds only", "use np.add")
    return activation(op, data, bias=bias, scale=scale, reduce_op=reduce_op, reduce_res=reduce_res,
                      reduce_cmd=reduce_cmd.reset_reduce, mask=mask, dtype=dtype)


# ---- copies and selections
def tensor_copy(src, *, mask=None, dtype=None, engine=engine.unknown, **_):
    src = tile(src)
    out = temp(src.shape, code(dtype, src.code))
    put("tensor_copy", _engine(engine), out, src, mask=mask)
    return out


def _offset(view):
    index = view.index
    if index.partitions != 1 or index.cols != 1:
        raise error("a dynamic offset is one number in SBUF", "index the offsets to [1, 1]")
    index = tile(index)
    if index.code == _dtypes.INT32:
        return index
    if index.code == _dtypes.UINT32:
        return index._as(_dtypes.INT32)
    out = temp([1, 1], _dtypes.INT32)
    put("tensor_copy", e.VECTOR, out, index)
    return out


def _unit(view):
    return (float(view.index_step), 0, 0, 0)


def tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=engine.unknown, **_):
    if not src.indirect:
        return tensor_copy(src, mask=mask, dtype=dtype, engine=engine)
    which = _engine(engine)
    out = temp(src.shape, code(dtype, src.code))
    put("tensor_copy_dynamic", e.VECTOR if which == e.ANY else which, out, src._from_there(), _offset(src), imm=_unit(src))
    return out


def tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=engine.unknown, **_):
    which = _engine(engine)
    put("tensor_copy_dynamic_dst", e.VECTOR if which == e.ANY else which, dst._from_there(), tile(src), _offset(dst),
        imm=_unit(dst))


def tensor_copy_predicated(*, src, dst, predicate, reverse_pred=False, mask=None, dtype=None, **_):
    predicate, dst = tile(predicate), tile(dst)
    if not is_tile(src):
        return put("copy_predicated", e.VECTOR, dst, None, predicate, imm=(float(src), 0, 0, 0),
                   flags=e.REVERSE0 if reverse_pred else 0, mask=mask)
    put("copy_predicated", e.VECTOR, dst, tile(src), predicate, flags=e.REVERSE0 if reverse_pred else 0, mask=mask)


def select_reduce(*, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=reduce_cmd.idle, reduce_op=np.amax,
                  reverse_pred=False, mask=None, dtype=None, **_):
    dst, predicate, on_true = tile(dst), tile(predicate), tile(on_true)
    commands = globals()["reduce_cmd"]
    flags = e.REVERSE0 if reverse_pred else 0
    c = tile(on_false) if is_tile(on_false) else None
    imm = (0.0 if c is not None else float(on_false), 0, 0, 0)
    if reduce_res is None and reduce_cmd is commands.idle:
        return put("select", e.VECTOR, dst, on_true, predicate, c, imm=imm, flags=flags, mask=mask)
    extra = {"registers": _REGISTERS[reduce_cmd.name]} if reduce_cmd is not commands.idle else None
    return put("select_reduce", e.VECTOR, dst, on_true, predicate, c, dst2=None if reduce_res is None else tile(reduce_res),
               imm=imm, flags=flags, mask=mask, extra=extra)


def nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None, **_):
    """Partitions exchanged within each 32."""
    src, dst = tile(src), tile(dst)
    order = [int(i) for i in shuffle_mask]
    if len(order) != 32:
        raise error(f"the shuffle mask has {len(order)} places", "give 32")
    table = nl.load(nl.shared_constant(np.array([order], dtype=np.uint8)))
    put("stream_shuffle", e.VECTOR, dst, src, table, mask=mask)


def range_select(*_, **__):
    raise error("range_select exists from NeuronCore-v3 on", "use affine_select, or iota and nl.where")


# ---- search and gather
def max8(*, src, mask=None, dtype=None, **_):
    src = tile(src)
    out = temp([src.shape[0], 8], code(dtype, src.code))
    put("max8", e.VECTOR, *_kept(out, src, mask))
    return out


def nc_find_index8(*, data, vals, mask=None, dtype=None, **_):
    data, vals = tile(data), tile(vals)
    out = temp([data.shape[0], 8], code(dtype, _dtypes.UINT32))
    to, kept = _kept(out, data, mask)
    put("find_index8", e.VECTOR, to, kept, vals._cut(0, 0, kept.partitions))
    return out


def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None, **_):
    data, vals = tile(data), tile(vals)
    out = temp(data.shape, code(dtype, data.code))
    _, kept = _kept(out, data, mask)
    rows = vals._cut(0, 0, kept.partitions)
    found = tile(dst_idx)._cut(0, 0, kept.partitions) if dst_idx is not None else None
    mask = e.mask_of(mask)
    to = out if mask is None else out._masked(mask)
    put("match_replace8", e.VECTOR, to, kept, rows, dst2=found, imm=(float(imm), 0, 0, 0))
    return out


def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None, **_):
    src, index = e.in_sbuf(tile(src_buffer)), tile(index)
    each, n = int(num_elem_per_idx), int(num_valid_indices or 16 * index.cols)
    out = temp([src.shape[0], n] + ([each] if each > 1 else []), src.code)
    scaled = index
    if each > 1 and src.ndim > 2 and src.shape[-1] == each:  # rows of so many elements
        scaled = nl.multiply(index, each, dtype=np.uint16)
    put("local_gather", e.GPSIMD, out, src, scaled, imm=(float(each), 0, 0, 0))
    return out


def nc_n_gather(data, indices, *, mask=None, dtype=None, **_):
    data, indices = e.in_sbuf(tile(data)), e.in_sbuf(tile(indices))
    out = temp(indices.shape, data.code)
    put("n_gather", e.GPSIMD, out, inner_of(data), inner_of(indices), mask=mask)
    return out if dtype is None or code(dtype) == data.code else nl.copy(out, dtype=dtype)


def inner_of(data):
    return e.inner(data, 1) if data.ndim > 2 else data


def tensor_scalar_cumulative(*, src, op0, op1, imm0, imm1=None, reduce_cmd=reduce_cmd.reset_reduce, dtype=None, mask=None,
                             **_):
    """Each element: (src op0 imm0) op1 what came before it."""
    data = tile(src)
    out = temp(data.shape, code(dtype, data.code))
    registers = _REGISTERS[reduce_cmd.name] if imm1 is None else 5
    put("tensor_scalar_cumulative", e.VECTOR, out, data, _operand(imm0, data), _operand(imm1, data),
        alu0=ALU[alu_name(op0)], alu1=ALU[alu_name(op1)], mask=mask, extra={"registers": registers})
    return out


def set_rng_seed(*, src_seeds=None, seed=None, **_):
    nl.random_seed(src_seeds if src_seeds is not None else seed)


def sequence_bounds(*, sequence_ids, dtype=None, **_):
    data = tile(sequence_ids)
    out = temp([data.shape[0], 2, data.cols], code(dtype, data.code))
    put("sequence_bounds", e.GPSIMD, out, data)
    return out


def builtin_custom_op(*_, **__):
    raise error("library calls on GpSimdE are not modelled: nothing is published about them", "write it with other instructions")


__getattr__ = missing("nisa")
