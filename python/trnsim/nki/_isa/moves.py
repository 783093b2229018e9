"""nki.isa: constants, DMA, copies and selections."""
import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _masks, _places
from trnsim.nki._dtypes import code
from trnsim.nki._emit import ALU, alu_name, is_tile, put, tile
from trnsim.nki._isa import modes
from trnsim.nki._language.moves import load, transfer
from trnsim.nki._language.tensors import full, shared_constant
from trnsim.nki._numbers import fits
from trnsim.nki._state import HBM, error, state


def memset(shape, value, dtype, *, mask=None, engine=modes.engine.unknown):
    out = e.result([int(s) for s in ([shape] if isinstance(shape, int) else shape)], code(dtype))
    e.fill(modes.engine_code(engine), out, value, mask)
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


def iota(expr, dtype, *, mask=None):
    """Index values as numbers."""
    if getattr(expr, "shape", ()):
        sizes, first, row, steps = _affine_rows(expr, "iota's expression")
    else:  # one number, as program_id is
        sizes, first, row, steps = [1, 1], getattr(expr, "constant", expr), 0, [0]
    out = e.result(sizes, code(dtype))
    for (part,), start in _lines((out,), mask, first, (row, *steps)):
        affine(part, start, row, steps[-1:])
    return out


def affine(to, start, row, steps, more=None):
    """GpSimdE's affine numbers: `start`, a step for each partition, and one for each axis of the elements."""
    for last in (min, max):  # the extremes are at corners
        fits(start + sum(last(0, s * (n - 1)) for s, n in zip((row, *steps), to.shape)), to.code)
    numbers = [int(start), int(row), int(steps[-1]), 0]
    if all(abs(n) <= 1 << 24 for n in numbers):
        put("iota", e.GPSIMD, to, imm=tuple(map(float, numbers)), steps=more)
    else:
        put("iota", e.GPSIMD, to, ints=numbers, steps=more)


def _lines(tiles, mask, first, steps):
    """The parts of tiles that a mask leaves, each of partitions and their last axis, and the affine number that begins
    there: `first`, and a step for each axis."""
    for part in e.parts(e.mask_of(mask)):
        ranges = _masks.left(tiles[0], part)
        for outer in np.ndindex(*[size for _, size in ranges[1:-1]]):
            inner = [(begin + i, 1) for (begin, _), i in zip(ranges[1:-1], outer)]
            here = [ranges[0], *inner, ranges[-1]]
            yield [_masks.cut(t, here) for t in tiles], first + sum(b * s for (b, _), s in zip(here, steps))


def _opposed(a, b):
    return a.constant == -b.constant and a.coefficients == [-c for c in b.coefficients]


def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None):
    data = e.in_sbuf(tile(on_true_tile))
    rules = pred.inequalities() if isinstance(pred, _core.Mask) else [pred]
    same = len(rules) == 2 and _opposed(*rules)  # a == b is a >= b and b >= a
    if len(rules) != 1 and not same:
        raise error("affine_select takes one comparison", "use nl.where for others")
    sizes, first, row, steps = _affine_rows(rules[0], "the predicate")
    out = e.result(data.shape, code(dtype, data.code))
    full = [data.shape[d] for d in range(data.ndim)]
    if len(sizes) > len(full) or any(s not in (1, n) for s, n in zip(sizes[:1] + sizes[:0:-1], full[:1] + full[:0:-1])):
        raise error(f"the predicate has the shape {tuple(sizes)}, the tile {tuple(full)}", "give both the same shape")
    steps = [0] * (data.ndim - 1 - len(steps)) + steps
    for (to, source), start in _lines((out, data), mask, first, (row, *steps)):
        put("affine_select", e.GPSIMD, to, source, alu0=ALU["eq" if same else "ge"],
            imm=(float(start), float(row), float(steps[-1]), float(on_false_value)))
    return out


# ---- DMA
def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=modes.oob_mode.error,
             dge_mode=modes.dge_mode.unknown):
    state.descriptors.add(((dge_mode or modes.dge_mode.unknown).name, modes.engine.unknown.name))
    add = dst_rmw_op is not None
    if add and alu_name(dst_rmw_op) != "add":
        raise error("dma_copy adds only", "use np.add")
    skip = oob_mode is modes.oob_mode.skip
    if dst.space == HBM and src.space == HBM and not dst.by_values and not src.by_values:
        for part in e.parts(e.mask_of(mask)):
            _hbm_to_hbm(dst if part is None else dst._masked(part), src if part is None else src._masked(part), add)
        return None
    return transfer(dst, src, mask, add, skip)


def _hbm_to_hbm(dst, src, add):
    rows = dst.shape[0] if dst.ndim else 1
    if not dst.ndim or not src.ndim:  # one element
        dst, src = dst._reshape([1]), src._reshape([1])
    for r in range(0, rows, 128):
        n = min(128, rows - r)
        put("dma_copy", e.GPSIMD, dst._cut(0, r, n), src._cut(0, r, n), accumulate=add)


def dma_transpose(src, *, axes=None, mask=None, dtype=None):
    orders = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
    order = orders.get(src.ndim)
    if order is None or (axes is not None and tuple(axes) != order):
        raise error(f"a DMA transpose of {src.ndim} axes by {axes}", "use (1, 0), (2, 1, 0) or (3, 1, 2, 0)")
    out, ranges = e.result([src.shape[a] for a in order], code(dtype, src.code)), _masks.left(src, mask)
    transpose_planes(_masks.cut(out, [ranges[a] for a in order]), _masks.cut(src, ranges))
    return out


def transpose_planes(dst, src):
    """The first and the last axis of `src` exchanged, for each place of the axes between them."""
    for middle in np.ndindex(*src.shape[1:-1]):
        to, source = dst, src
        for d, i in enumerate(middle):
            to, source = to._cut(d + 1, i, 1), source._cut(d + 1, i, 1)
        put("dma_transpose", e.SYNC, to, source)


def tensor_copy(src, *, mask=None, dtype=None, engine=modes.engine.unknown):
    src = tile(src)
    out = e.result(src.shape, code(dtype, src.code))
    put("tensor_copy", modes.engine_code(engine), out, src, mask=mask)
    return out


def _needs_moved(view):
    if not view.by_values:
        raise error("none of the tile's indices is in SBUF", "index it by a tile of [1, 1], or use tensor_copy")


def tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=modes.engine.unknown):
    if not src.by_values:
        return tensor_copy(src, mask=mask, dtype=dtype, engine=engine)
    out = e.result(src.shape, code(dtype, src.code))
    for part in e.parts(e.mask_of(mask)):
        ranges = _masks.left(src, part)
        if all(size for _, size in ranges):
            _places.read(out if part is None else _masks.cut(out, ranges), _masks.cut(src, ranges),
                         modes.engine_code(engine))
    return out


def tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=modes.engine.unknown):
    _needs_moved(dst)
    src = tile(src)
    for part in e.parts(e.mask_of(mask)):
        ranges = _masks.left(dst, part)
        if all(size for _, size in ranges):
            _places.write(_masks.cut(dst, ranges), src if part is None else _masks.cut(src, ranges),
                          modes.engine_code(engine))


def _predicate(given, types):
    """The tile that chooses. Errors: one of another type."""
    out = tile(given)
    if str(out.dtype) not in types:
        raise error(f"the predicate is {out.dtype}", f"give it the type {', '.join(types[:-1])} or {types[-1]}")
    return out


def tensor_copy_predicated(*, src, dst, predicate, reverse_pred=False, mask=None, dtype=None):
    predicate, dst = _predicate(predicate, ("uint8", "uint16", "uint32")), tile(dst)
    if not is_tile(src):
        return put("copy_predicated", e.VECTOR, dst, None, predicate, imm=e.number(src),
                   reverse0=reverse_pred, mask=mask)
    put("copy_predicated", e.VECTOR, dst, tile(src), predicate, reverse0=reverse_pred, mask=mask)


def select_reduce(*, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=modes.reduce_cmd.idle,
                  reduce_op=np.amax, reverse_pred=False, mask=None, dtype=None):
    if one_for_each_partition(on_false):
        raise error(one_for_each_partition(on_false), "give one, a number, or use nl.where")
    return selected(dst=dst, predicate=predicate, on_true=on_true, on_false=on_false, reduce_res=reduce_res,
                    reduce_cmd=reduce_cmd, reduce_op=reduce_op, reverse_pred=reverse_pred, mask=mask)


def selected(*, dst, predicate, on_true, on_false, reduce_res, reduce_cmd, reduce_op, reverse_pred, mask):
    dst, predicate, on_true = tile(dst), _predicate(predicate, ("int8", "uint8", "int16", "uint16")), tile(on_true)
    otherwise = tile(on_false) if is_tile(on_false) else None
    settings = {"imm": e.number(0 if otherwise is not None else on_false), "reverse0": reverse_pred, "mask": mask}
    reduces = reduce_cmd is not modes.reduce_cmd.idle
    if reduce_res is not None and tile(reduce_res).code not in _dtypes.REAL:
        raise error(f"reduce_res is {tile(reduce_res).dtype}", "give it a float type")
    if e.alu_name(reduce_op) != "max":
        raise error("select_reduce reduces to the greatest number only", "use np.max, or nisa.tensor_reduce")
    if on_true.code in (_dtypes.INT32, _dtypes.UINT32):
        raise error(f"select_reduce of {on_true.dtype}", "give floats, or integers of 8 or 16 bits; or use nl.where")
    if reduce_res is None and not reduces:
        return put("select", e.VECTOR, dst, on_true, predicate, otherwise, **settings)
    return put("select_reduce", e.VECTOR, dst, on_true, predicate, otherwise, **settings,
               dst2=None if reduce_res is None else tile(reduce_res),
               registers=modes.REGISTERS[reduce_cmd.name] if reduces else None)


def one_for_each_partition(on_false):
    """What is wrong with a tile of select_reduce's other numbers."""
    several = is_tile(on_false) and tile(on_false).cols != 1
    return f"on_false has {tile(on_false).cols} elements of a partition" if several else None


def nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None):
    """Partitions exchanged within each 32."""
    src, dst = tile(src), tile(dst)
    order = [int(i) for i in shuffle_mask]
    if len(order) != 32:
        raise error(f"the shuffle mask has {len(order)} entries", "give 32")
    if any(not 0 <= i < 32 and i != 255 for i in order):
        raise error(f"the shuffle mask names partition {next(i for i in order if not 0 <= i < 32 and i != 255)}",
                    "give 0 to 31, or 255 for a partition that stays as it is")
    if dst.cols != src.cols:
        raise error(f"a shuffle of {src.cols} elements of a partition to {dst.cols}", "give both the same number")
    (first, rows), *columns = _masks.left(dst, mask)
    if rows == dst.partitions:
        return _shuffled(*(_masks.cut(t, [(0, t.partitions), *columns]) for t in (dst, src)), order)
    for p in range(0, dst.partitions, 32):  # partitions of dst that the mask leaves out stay as they are
        here = [(p, min(32, dst.partitions - p)), *columns]
        kept = [o if first <= p + i < first + rows else 255 for i, o in enumerate(order)]
        _shuffled(_masks.cut(dst, here), _masks.cut(src, here), kept)
    return None


def _shuffled(dst, src, order):
    """The mask is a part of the chip's instruction, here a tile, which is made once: of one number by an instruction in
    front of all loops, else by a load. The older dialect's compiler keeps what is loaded repeatedly (`reuse`)."""
    key = state.program if state.cores > 1 else None, tuple(order)
    table = state.masks.get(key)
    if table is None and len(set(order)) == 1:
        table = state.masks[key] = full([1, 32], order[0], np.uint8)
    elif table is None:
        table = load(shared_constant(np.array([order], dtype=np.uint8)))
        state.masks.update({key: table} if state.newer else {})
    put("stream_shuffle", e.VECTOR, dst, src, table)


def range_select(*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=modes.reduce_cmd.idle, reduce_res=None,
                 reduce_op=np.amax, range_start=0, on_false_value=None, mask=None, dtype=None):
    """The tile where its index along the row is within two bounds of the partition, elsewhere the value."""
    if modes.get_nc_version().value < 3:
        raise error("range_select exists from NeuronCore-v3 on", "use affine_select, or iota and nl.where")
    data, given = tile(on_true_tile), reduce_res is None or reduce_cmd is not modes.reduce_cmd.idle
    out = e.result(data.shape, code(dtype, data.code))
    if data.code not in _dtypes.REAL:
        raise error(f"range_select of {data.dtype}", "give it a float type, or use affine_select")
    if e.alu_name(reduce_op) != "max":
        raise error("range_select reduces to the greatest number only", "use np.max, or nisa.tensor_reduce")
    otherwise = modes.fp32_min()
    if on_false_value is not None and np.float32(on_false_value) != np.float32(otherwise):
        raise error(f"range_select writes {otherwise:.8g}, not {on_false_value}", "give on_false_value=nl.fp32.min")
    mask = e.mask_of(mask)
    first = range_start + _masks.left(data, mask)[-1][0]  # the index of the first element that is left
    put("range_select", e.VECTOR, out, data, tile(bound0, "bound0"), tile(bound1, "bound1"),
        alu0=ALU[alu_name(comp_op0)], alu1=ALU[alu_name(comp_op1)], imm=(float(first), otherwise, 0, 0), mask=mask,
        dst2=None if reduce_res is None else tile(reduce_res),
        registers=modes.REGISTERS[reduce_cmd.name] if given else None)
    return out
