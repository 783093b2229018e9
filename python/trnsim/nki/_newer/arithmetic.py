"""nki.isa of the newer dialect: VectorE, ScalarE and GpSimdE."""
import numbers

import numpy as np

from trnsim.nki import _emit as e
from trnsim.nki import isa
from trnsim.nki._dtypes import is_integer
from trnsim.nki._emit import ALU, alu_name, put, tile
from trnsim.nki._isa import modes
from trnsim.nki._isa.moves import affine, one_for_each_partition, selected
from trnsim.nki._isa.vector import scalar_reduced
from trnsim.nki._language.tensors import full
from trnsim.nki._newer.emit import DONE, NO_QUOTIENT, destination, doubted, into
from trnsim.nki._newer.modes import engine as engines
from trnsim.nki._newer.modes import reduce_cmd as commands
from trnsim.nki._newer.registers import known_value, remember
from trnsim.nki._state import PSUM, error

_MAX = "maximum"


def _listed(*ops):
    """The documentation's table of operators has no quotient: the SDK's compiler refuses it, and its simulator does not
    look."""
    if any(op is not None and alu_name(op) == "div" for op in ops):
        doubted(NO_QUOTIENT)


def tensor_tensor(dst, data1, data2, op, engine=engines.unknown, name=None):
    _listed(op)
    if e.is_tile(data1) and e.is_tile(data2):
        if data1.cols != data2.cols:
            doubted(f"tensor_tensor of {data1.cols} and {data2.cols} elements in a partition: neuronx-cc refuses "
                    "it; nisa.tensor_scalar takes a column")
        if data1.partitions != data2.partitions:
            doubted(f"tensor_tensor of {data1.partitions} and {data2.partitions} partitions: neuronx-cc refuses it; "
                    "nisa.nc_stream_shuffle repeats a row")
    if alu_name(op) == "pow":
        _outside_psum("nl.power", dst, data1, data2)
    small = e.is_tile(dst) and dst.size == 1
    values = [known_value(d) for d in (data1, data2)] if small and e.is_tile(data1) and e.is_tile(data2) else [None]
    out = into(dst, isa.tensor_tensor, data1, data2, op, engine=engine)
    if None not in values:
        remember(dst, _folded(op, *values))
    return out


def _outside_psum(what, *tiles):
    """GpSimdE does not reach PSUM."""
    if any(e.is_tile(t) and t.space == PSUM for t in tiles):
        raise error(f"{what} of a tile in PSUM: it runs on GpSimdE, which does not reach PSUM",
                    "copy it to SBUF with nisa.tensor_copy")


def tensor_scalar(dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False,
                  engine=engines.unknown, name=None):
    _listed(op0, op1)
    value = known_value(data) if e.is_tile(dst) and dst.size == 1 and e.is_tile(data) else None
    out = into(dst, isa.tensor_scalar, data, op0, operand0, reverse0, op1, operand1, reverse1, engine=engine)
    if value is not None and op1 is None and not reverse0 and not e.is_tile(operand0):
        remember(dst, _folded(op0, value, operand0))
    return out


def _folded(op, x, y):
    """The result of whole numbers that are known while the kernel is traced; None for other operations."""
    rule = {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "max": lambda: max(x, y),
            "min": lambda: min(x, y)}.get(alu_name(op))
    return rule() if rule and isinstance(x, int) and isinstance(y, int) else None


def tensor_copy_predicated(dst, src, predicate, reverse_pred=False, name=None):
    isa.tensor_copy_predicated(src=src, dst=destination(dst), predicate=predicate, reverse_pred=reverse_pred)
    return DONE


_BITS = ("and", "or", "xor", "not", "shl", "shr")


def scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, name=None):
    _listed(op0, op1)
    if any(alu_name(op) in _BITS for op in (op0, op1)):
        raise error("scalar_tensor_tensor works on numbers, not on bits", "use nisa.tensor_scalar and tensor_tensor")
    if operand1.cols != tile(data).cols:
        raise error(f"operand1 has {operand1.cols} elements in a partition, data has {data.cols}",
                    "give one for each element of data; operand0 may have one for each partition")
    return into(dst, isa.scalar_tensor_tensor, data=data, op0=op0, operand0=operand0, op1=op1, operand1=operand1,
                reverse0=reverse0, reverse1=reverse1)


def tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False, name=None):
    return into(dst, isa.tensor_tensor_scan, data0, data1, initial, op0, op1, reverse0, reverse1)


def tensor_reduce(dst, op, data, axis, negate=False, keepdims=False, name=None):
    axes = [axis] if isinstance(axis, int) else list(axis)
    last = data.ndim - 1
    if axes == [1] and last > 1 and e.is_tile(dst) and dst.size * data.shape[last] == data.size:
        if dst.size * data.shape[1] != data.size:  # NKI 0.2.0 calls the last axis 1, however many there are
            axis, axes = last, [last]
    if sorted(a % data.ndim for a in axes) != list(range(data.ndim - len(axes), data.ndim)):
        raise error(f"axes {axes} are not the last ones of {data.ndim}", "reduce the last axes, or permute the view")
    return into(dst, isa.tensor_reduce, op, data, axis, negate=negate, keepdims=keepdims)


def tensor_partition_reduce(dst, op, data, name=None):
    _outside_psum("tensor_partition_reduce", data)
    return into(dst, isa.tensor_partition_reduce, op, data)


def tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res=None, reverse0=False,
                         reduce_cmd=commands.reset_reduce, reduce_init=None, reduce_res_negate=False, name=None):
    _listed(op0)
    if (reduce_cmd is commands.load_reduce) != (reduce_init is not None):
        raise error(f"reduce_init is {'missing' if reduce_init is None else 'given'} with reduce_cmd.{reduce_cmd.name}",
                    "give reduce_init with reduce_cmd.load_reduce, and with no other")
    begin = None if reduce_init is None else e.per_partition(reduce_init, tile(data))
    return into(dst, scalar_reduced, data, (op0, reduce_op), (operand0, begin),
                None if reduce_res is None else destination(reduce_res), reverse0=reverse0,
                registers=modes.REGISTERS[reduce_cmd.name], negate=bool(reduce_res_negate))


def tensor_scalar_cumulative(dst, src, op0, op1, imm0, imm1=None, reduce_cmd=commands.reset_reduce, name=None):
    return into(dst, isa.tensor_scalar_cumulative, src=src, op0=op0, op1=op1, imm0=imm0, imm1=imm1,
                reduce_cmd=reduce_cmd)


def activation(dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=commands.idle,
               name=None):
    if reduce_op is not None and alu_name(reduce_op) != "add":
        raise error("ScalarE's accumulators add only", "give reduce_op=nl.add")
    given = None if reduce_res is None else destination(reduce_res)
    return into(dst, isa.activation, op, data, bias=bias, scale=scale, reduce_op=reduce_op, reduce_res=given,
                reduce_cmd=reduce_cmd)


def activation_reduce(dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0, name=None):
    return into(dst, isa.activation_reduce, op, data, reduce_op=reduce_op, reduce_res=destination(reduce_res),
                bias=bias, scale=scale)


def reciprocal(dst, data, name=None):
    return into(dst, isa.reciprocal, data)


def bn_stats(dst, data, name=None):
    return into(dst, isa.bn_stats, data)


def bn_aggr(dst, data, name=None):
    return into(dst, isa.bn_aggr, data)


def max8(dst, src, name=None):
    return into(dst, isa.max8, src=src)


def nc_find_index8(dst, data, vals, name=None):
    return into(dst, isa.nc_find_index8, data=data, vals=vals)


def nc_match_replace8(dst, data, vals, imm, dst_idx=None, name=None):
    return into(dst, isa.nc_match_replace8, data=data, vals=vals, imm=imm,
                dst_idx=None if dst_idx is None else destination(dst_idx))


def dropout(dst, data, prob, name=None):
    if destination(dst).code != tile(data).code:
        raise error(f"dropout of {data.dtype} to {dst.dtype}", "give both the same type")
    return into(dst, isa.dropout, data, prob)


def rng(dst, engine=engines.vector, name=None):
    """Random bits. Numbers of fewer than 32 bits are their lowest ones. GpSimdE draws those of its lanes."""
    from trnsim.nki._language.tensors import drawn
    which = _generator("rng", engine) if engine is engines.gpsimd else e.VECTOR
    to = destination(dst)
    if not is_integer(to.code):
        raise error(f"random bits are whole numbers, dst is {to.dtype}", "give dst an integer type")
    bits = to if to.itemsize == 4 else e.temp(to.shape, e._dtypes.UINT32)
    put("rng", which, bits, rng=drawn())
    if bits is not to:
        e.current().copy(to, bits.view(to.dtype)[..., ::4 // to.itemsize])
    return DONE


def set_rng_seed(src_seeds, name=None):
    isa.set_rng_seed(src_seeds=src_seeds)
    return DONE


def _generator(name, engine):
    """GpSimdE, whose lanes have a generator each."""
    if modes.get_nc_version().value < 3:
        raise error(f"nisa.{name} of GpSimdE exists from NeuronCore-v3 on", "use VectorE: nisa.rng, nisa.set_rng_seed")
    if engine is not engines.gpsimd:
        raise error(f"nisa.{name} of another engine than GpSimdE exists from NeuronCore-v4 on",
                    "name nisa.gpsimd_engine")
    return e.GPSIMD


def rand_set_state(src_seeds, engine=engines.gpsimd, name=None):
    """Each partition's six words are the state from which its lane of GpSimdE goes on."""
    put("rand_set_state", _generator("rand_set_state", engine), None, e.tile(src_seeds))
    return DONE


def rand_get_state(dst, engine=engines.gpsimd, name=None):
    put("rand_get_state", _generator("rand_get_state", engine), destination(dst))
    return DONE


def _greatest(name, op):
    """The accumulators of a selection keep the greatest number."""
    if alu_name(op) != "max":
        raise error(f"{name} reduces to the greatest number only", "use reduce_op=nl.maximum, or nisa.tensor_reduce")


def select_reduce(dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=commands.idle, reduce_op=_MAX,
                  reverse_pred=False, name=None):
    _greatest("select_reduce", reduce_op)
    if one_for_each_partition(on_false):
        doubted(f"select_reduce: {one_for_each_partition(on_false)}: the documentation has one, or a number")
    selected(dst=destination(dst), predicate=predicate, on_true=on_true, on_false=on_false, reduce_op=reduce_op,
             reduce_res=None if reduce_res is None else destination(reduce_res), reduce_cmd=reduce_cmd,
             reverse_pred=reverse_pred, mask=None)
    return DONE


def range_select(dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=commands.reset_reduce,
                 reduce_res=None, reduce_op=_MAX, range_start=0, on_false_value=None, name=None):
    _greatest("range_select", reduce_op)
    if not {alu_name(comp_op0), alu_name(comp_op1)} <= {"eq", "lt", "le", "gt", "ge"}:
        raise error("range_select compares by another operation", "use nl.equal, less, less_equal, greater or "
                    "greater_equal")
    if on_false_value is not None and np.float32(on_false_value) != np.float32(modes.fp32_min()):
        doubted(f"range_select writes {modes.fp32_min():.8g}, not {on_false_value}")
    bound0, bound1 = (full([tile(on_true_tile).partitions, 1], b, np.float32) if isinstance(b, numbers.Real) else b
                      for b in (bound0, bound1))
    return into(dst, isa.range_select, on_true_tile=on_true_tile, comp_op0=comp_op0, comp_op1=comp_op1, bound0=bound0,
                bound1=bound1, reduce_cmd=reduce_cmd, range_start=range_start,
                reduce_res=None if reduce_res is None else destination(reduce_res))


def iota(dst, pattern, offset=0, channel_multiplier=0, name=None):
    """offset + partition * channel_multiplier + the sum of index * step, over the axes of the pattern."""
    to = destination(dst)
    steps = _pattern(pattern, to)
    every = [s for s, _ in steps]
    affine(_shaped(to, steps), _whole(offset), _whole(channel_multiplier), every, every if len(steps) > 1 else None)
    return DONE


def affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op="equal", offset=0,
                  name=None):
    """The tile where the affine number compares with 0, elsewhere the value."""
    _outside_psum("affine_select", dst, on_true_tile)
    to, data = destination(dst), tile(on_true_tile)
    steps = _pattern(pattern, to)
    first, row, step, _ = _affine(offset, channel_multiplier, steps)
    put("affine_select", e.GPSIMD, _shaped(to, steps), _shaped(data, steps), alu0=ALU[alu_name(cmp_op)],
        imm=(first, row, step, float(on_false_value)), steps=[s for s, _ in steps] if len(steps) > 1 else None)
    return DONE


def _pattern(pattern, to):
    """The (step, size) pairs without axes of one element. Errors: for another number of elements than `to` has."""
    pairs = [(_whole(step), _whole(size)) for step, size in pattern]
    size = 1
    for _, n in pairs:
        size *= n
    if len(pairs) > 4 or size != to.cols:
        raise error(f"the pattern names {size} elements of {len(pairs)} axes, dst has {to.cols} in a partition",
                    "give up to four [step, size] pairs, as many elements as dst")
    return [p for p in pairs if p[1] != 1] or [(0, 1)]


def _whole(number):
    if isinstance(number, float) and not number.is_integer():
        raise error(f"{number} in an affine number of indices", "give whole numbers")
    return int(number)


def _shaped(view, steps):
    sizes = [view.partitions] + [n for _, n in steps]
    return view if list(view.shape) == sizes else view._reshape(sizes)


def _affine(offset, row, steps):
    return float(_whole(offset)), float(_whole(row)), float(steps[-1][0]), 0.0


def local_gather(dst, src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, name=None):
    _outside_psum("local_gather", dst, src_buffer, index)
    return into(dst, isa.local_gather, src_buffer, index, num_elem_per_idx, num_valid_indices)


def nc_n_gather(dst, data, indices, name=None):
    _outside_psum("nc_n_gather", dst, data, indices)
    return into(dst, isa.nc_n_gather, data, indices)


def sequence_bounds(dst, segment_ids, name=None):
    _outside_psum("sequence_bounds", dst, segment_ids)
    return into(dst, isa.sequence_bounds, segment_ids=segment_ids)
