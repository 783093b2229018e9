"""nki.isa: VectorE and ScalarE."""
from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _masks
from trnsim.nki._dtypes import code
from trnsim.nki._emit import ALU, FN, Result, alu_name, is_tile, put, tile
from trnsim.nki._isa import modes
from trnsim.nki._language.tensors import drawn
from trnsim.nki._state import PSUM, error


def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=modes.engine.unknown):
    name = alu_name(op)
    if not is_tile(data1) or not is_tile(data2):
        raise error("tensor_tensor takes two tiles", "use tensor_scalar for numbers")
    data1, data2 = tile(data1), tile(data2)
    if data1.space == PSUM and data2.space == PSUM:
        raise error("data1 and data2 are both in PSUM", "copy one of them to SBUF")
    data1, data2 = e.alike(data1, data2)
    if not _core.same_sizes(data1, data2) and data1.cols != data2.cols and 1 in (data1.cols, data2.cols):
        shape = _core.common(data1, data2)  # it reads each element again
        data1 = e.spread(data1, shape, in_psum=data2.space != PSUM)
        data2 = e.spread(data2, shape, in_psum=data1.space != PSUM)
    if dtype is None and name in e.COMPARISONS:
        dtype = _dtypes.dtype_of(_dtypes.promote(data1.code, data2.code))
    return e.combined(name, data1, data2, Result(dtype, mask, into=e.destination(), engine=modes.engine_code(engine)))


_OF_ONE = ("none", "not", "logical_not", "absolute", "inverse_sqrt")  # operations without an operand of their own


def _two_ops(op0, op1, operand0=0, operand1=0):
    """The names and codes of two operations. Errors: one that lacks its operand, an operand without an operation."""
    names = alu_name(op0), alu_name(op1) if op1 is not None else "none"
    for i, (name, operand) in enumerate(zip(names, (operand0, operand1))):
        if operand is None and name not in _OF_ONE:
            raise error(f"op{i} is {name}, but there is no operand{i}", f"give operand{i}")
    if op1 is None and operand1 is not None and (is_tile(operand1) or operand1 != 0):
        raise error("there is an operand1, but no op1", "give op1, or leave operand1 out")
    return names, (ALU[names[0]], ALU[names[1]])


def tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, dtype=None,
                  mask=None, engine=modes.engine.unknown):
    """(data op0 operand0) op1 operand1; operands are numbers or one for each partition."""
    data = tile(data)
    names, (alu0, alu1) = _two_ops(op0, op1, operand0, operand1)
    out = e.result(data.shape, code(dtype, data.code))
    which = modes.engine_code(engine)
    if "pow" in names or ("inverse_sqrt" in names and which != e.SCALAR):
        which, data = e.GPSIMD, e.in_sbuf(data)
    if which == e.SCALAR:
        return _on_scalar(data, names, operand0, operand1, out, mask)
    given = [o for o in (operand0, operand1) if o is not None]
    if given and e.integers(names, data, *(o for o in given if not is_tile(o))):
        b, c = (e.per_partition(o, data) if is_tile(o) else None for o in (operand0, operand1))
        ints = [e.signed(o) if e.whole(o) else 0 for o in (operand0, operand1)] + [0, 0]
        which = e.VECTOR if which == e.ANY else which
        ints = ints if any(e.whole(o) for o in given) else None
    else:
        b, c, ints = e.per_partition(operand0, data), e.per_partition(operand1, data), None
        b = 0.0 if b is None else b
    put("tensor_scalar", which, out, data, b, c, alu0=alu0, alu1=alu1, reverse0=reverse0, reverse1=reverse1, mask=mask,
        ints=ints)
    return out


def _on_scalar(data, names, operand0, operand1, out, mask):
    """The same on ScalarE, which takes a factor, then a bias."""
    if names[0] == "mul" and names[1] in ("none", "add"):
        return e.activation(FN["copy"], data, operand1, operand0, Result(mask=mask, into=out))
    if names == ("add", "none"):
        return e.activation(FN["copy"], data, operand0, 1.0, Result(mask=mask, into=out))
    raise error(f"ScalarE does not run {names[0]}, {names[1]}", "use nisa.vector_engine")


def scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None,
                         mask=None):
    data, other = tile(data), tile(operand1)
    _, (alu0, alu1) = _two_ops(op0, op1, operand0)
    operand0 = 0.0 if operand0 is None else operand0
    if data.space == PSUM and other.space == PSUM:
        raise error("data and operand1 are both in PSUM", "copy one of them to SBUF")
    if tuple(other.shape) != tuple(data.shape) and other.cols != data.cols:
        other = e.spread(other, data.shape)
    out = e.result(data.shape, code(dtype, data.code))
    put("scalar_tensor_tensor", e.VECTOR, out, data, e.per_partition(operand0, data), other, alu0=alu0, alu1=alu1,
        reverse0=reverse0, reverse1=reverse1, mask=mask)
    return out


def tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None):
    """result[i] = (data0[i] op0 result[i-1]) op1 data1[i]."""
    data0, data1 = e.alike(tile(data0), tile(data1))
    shape = _core.common(data0, data1) if data0.cols != data1.cols else data0.shape
    data0, data1 = e.spread(data0, shape), e.spread(data1, shape)
    if data0.space == PSUM and data1.space == PSUM:
        raise error("data0 and data1 are both in PSUM", "copy one of them to SBUF")
    _, (alu0, alu1) = _two_ops(op0, op1)
    out = e.result(shape, code(dtype, _dtypes.promote(data0.code, data1.code)))
    first = e.per_partition(initial, data0)
    imm = (0.0, 0, 0, 0) if is_tile(first) else (first, 0, 0, 0)
    put("tensor_tensor_scan", e.VECTOR, out, data0, data1, first if is_tile(first) else None, alu0=alu0, alu1=alu1,
        imm=imm, reverse0=reverse0, reverse1=reverse1, mask=mask)
    return out


def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False):
    return e.reduction(alu_name(op), data, axis, Result(dtype, mask, into=e.destination()), keepdims, negate)


def tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None):
    return scalar_reduced(data, (op0, reduce_op), (operand0, None), reduce_res, dtype, reverse0=reverse0, mask=mask)


def scalar_reduced(data, ops, operands, reduce_res, dtype=None, **settings):
    """data op operand and its reduction. `ops`: both operations; `operands`: of the first, and the number from which
    the accumulators begin."""
    data = tile(data)
    _, (alu0, alu1) = _two_ops(*ops, operands[0])
    out = e.result(data.shape, code(dtype, data.code))
    first = 0.0 if operands[0] is None else e.per_partition(operands[0], data)
    put("tensor_scalar_reduce", e.VECTOR, out, data, first, operands[1],
        dst2=None if reduce_res is None else tile(reduce_res), alu0=alu0, alu1=alu1, **settings)
    return out


def tensor_partition_reduce(op, data, *, mask=None, dtype=None):
    data = e.in_sbuf(tile(data))
    out = e.result([1] + list(data.shape[1:]), code(dtype, data.code))
    ranges = _masks.left(data, mask)
    to, kept = _masks.cut(out, [(0, 1)] + ranges[1:]), _masks.cut(data, ranges)
    put("partition_reduce", e.GPSIMD, to, kept, alu0=ALU[alu_name(op)])
    return out


def reciprocal(data, *, dtype=None, mask=None):
    """VectorE's, at eight cycles an element, as its documentation has it and two streams on Trn2 show. On NeuronCore-v2
    the engines are chosen by cost: profiles of three kernels have ScalarE busy with it."""
    data = tile(data)
    out = e.result(data.shape, code(dtype, data.code))
    put("reciprocal", e.ANY if modes.get_nc_version().value < 3 else e.VECTOR, out, data, mask=mask)
    return out


def bn_stats(data, *, mask=None, dtype=None):
    data = tile(data)
    out = e.result([data.shape[0], 6], code(dtype, data.code))
    kept, to = _masks.searched("bn_stats", data, mask, out)
    put("bn_stats", e.VECTOR, to, kept)
    return out


def bn_aggr(data, *, mask=None, dtype=None):
    data = tile(data)
    out = e.result([data.shape[0], 2], code(dtype, data.code))
    kept, to = _masks.kept(data, mask, out)
    put("bn_aggr", e.VECTOR, to, kept)
    return out


def dropout(data, prob, *, mask=None, dtype=None):
    data = tile(data)
    out = e.result(data.shape, code(dtype, data.code))
    b = e.per_partition(prob, data) if is_tile(prob) else None
    put("dropout", e.VECTOR, out, data, b, imm=(0.0 if b is not None else float(prob), 1.0, 0, 0), mask=mask,
        rng=drawn())
    return out


# ---- ScalarE
def activation(op, data, *, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=modes.reduce_cmd.idle,
               mask=None, dtype=None):
    """op(data * scale + bias), and on request the sum over the elements of each partition."""
    fn = e.function(op)
    if fn is None:
        raise error(f"{getattr(op, '__name__', op)} is not a function of ScalarE",
                    "trnsim nki --list names those that are")
    if reduce_cmd is modes.reduce_cmd.idle and reduce_res is None:
        return e.activation(fn, data, bias, scale, Result(dtype, mask, into=e.destination()))
    data = tile(data)
    out = e.result(data.shape, code(dtype, data.code))
    # On the chip, an operation without a command gives this call's own sum; without either, the registers are read.
    own = reduce_op is not None and reduce_cmd is modes.reduce_cmd.idle
    put("activation" if reduce_res is None else "activation_reduce", e.SCALAR, out, data, e.scale_of(scale),
        e.bias_of(bias, data), dst2=None if reduce_res is None else tile(reduce_res), fn=fn, mask=mask,
        registers=None if own and reduce_res is not None else modes.REGISTERS[reduce_cmd.name])
    return out


def activation_reduce(op, data, *, reduce_op, reduce_res, bias=None, scale=1.0, mask=None, dtype=None):
    if alu_name(reduce_op) != "add":
        raise error("activation_reduce adds only", "use np.add")
    return activation(op, data, bias=bias, scale=scale, reduce_op=reduce_op, reduce_res=reduce_res,
                      reduce_cmd=modes.reduce_cmd.reset_reduce, mask=mask, dtype=dtype)
