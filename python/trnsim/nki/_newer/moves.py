"""nki.isa of the newer dialect: TensorE, DMA and copies."""
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _views, isa
from trnsim.nki._dtypes import code
from trnsim.nki._emit import alu_name, put, tile
from trnsim.nki._isa import moves as isa_moves
from trnsim.nki._isa.matrix import double_row, product
from trnsim.nki._isa.modes import engine_code
from trnsim.nki._language import moves
from trnsim.nki._language.tensors import hbm_tensor
from trnsim.nki._language.types import private_hbm
from trnsim.nki._newer.emit import DONE, destination, doubted, into, later
from trnsim.nki._newer.gathered import gathered_transpose
from trnsim.nki._newer.modes import dge_mode as dge
from trnsim.nki._newer.modes import engine as engines
from trnsim.nki._newer.modes import matmul_perf_mode as perf
from trnsim.nki._newer.modes import oob_mode as oob
from trnsim.nki._newer.registers import known_value, remember
from trnsim.nki._state import HBM, PSUM, error, state


def dma_copy(dst, src, priority=None, oob_mode=oob.error, dge_mode=dge.unknown, engine=engines.unknown, name=None):
    if priority is not None:
        later("dma_copy with a priority")
    destination(dst, on_chip=False)
    if not e.is_tile(src):
        raise error(f"the source of a copy is {type(src).__name__}", "give a tensor; fill tiles with nisa.memset")
    if src.space == PSUM or dst.space == PSUM:
        raise error("DMA does not reach PSUM in this dialect", "copy it to SBUF with nisa.tensor_copy")
    _check_descriptors(dst, src, dge_mode, engine)
    if src.size != dst.size and not (src.by_values or dst.by_values):
        raise error(f"{tuple(src.shape)} is copied to {tuple(dst.shape)}", "give both the same number of elements")
    value = known_value(src) if dst.size == 1 and not src.by_values else None
    _transfer(dst, src, skip=oob_mode is oob.skip)
    if dst.space != HBM and value is not None:
        remember(dst, value)
    return DONE


def _check_descriptors(dst, src, mode, engine):
    """Who may write the descriptors of a copy. Source: nki.isa.dma_copy and the reference of dge_mode."""
    mode, engine = mode or dge.unknown, engine or engines.unknown
    state.descriptors.add((mode.name, engine.name))
    if mode is dge.unknown and engine is engines.unknown:
        return
    rules = (
        (mode is dge.hwdge or engine is engines.unknown, f"engine.{engine.name} without dge_mode.hwdge: engines start "
         "no other transfers", "add dge_mode=nisa.dge_mode.hwdge, or leave the engine out"),
        (mode is not dge.hwdge or src.dtype == dst.dtype,
         f"hardware descriptor generation moves bytes: {src.dtype} does not become {dst.dtype}",
         "give both the same type (.view), or use dge_mode.swdge"),
        (mode is not dge.hwdge or e.is_later(3), "hardware descriptor generation exists from NeuronCore-v3 on",
         "leave dge_mode out"),
        (mode in (dge.unknown, dge.swdge) or not any(t.by_values and t.index.size > 1 for t in (dst, src)),
         f"dge_mode.{mode.name} does not gather or scatter", "use dge_mode.swdge, or leave it out"),
        (mode is not dge.hwdge or engine in (engines.unknown, engines.sync, engines.scalar),
         f"engine.{engine.name} starts no hardware descriptor generation", "use engine.sync or engine.scalar"),
    )
    for holds, what, fix in rules:
        if not holds:
            raise error(what, fix)


def _transfer(dst, src, accumulate=False, skip=False):
    """dst = src, pieces of at most 128 rows between tensors in HBM; their shapes may differ."""
    if list(dst.shape) != list(src.shape) and not (src.by_values or dst.by_values):
        dst, src = _alike(dst, src)
    elif dst.ndim != src.ndim:
        dst, src = _views.one_row(dst, src), _views.one_row(src, dst)
    if dst.space == HBM and src.space == HBM and list(dst.shape) == list(src.shape):
        indexed = dst.by_values or src.by_values
        rows = dst.shape[0] if dst.ndim else 1
        for r in range(0, rows, 128):
            n = min(128, rows - r)
            to, source = dst._cut(0, r, n), src._cut(0, r, n)
            if indexed:
                moves.transfer(to, source, None, accumulate, skip)
            else:
                put("dma_copy", e.GPSIMD, to, source, accumulate=accumulate)
        return
    moves.transfer(dst, src, None, accumulate, skip)


def _alike(dst, src):
    """Both with the same axes: a tensor in HBM takes those of a tile, whose partitions must stay its first axis."""
    if HBM not in (dst.space, src.space):
        return (dst, src) if dst.shape[0] == src.shape[0] else _across(dst, src)
    forms = [(dst, src), (src, dst)] if src.space == HBM else [(src, dst), (dst, src)]
    for keeps, other in forms:
        if other.space != HBM and other.shape[0] != (keeps.shape[0] if keeps.ndim else 1):
            continue
        try:
            shaped = other._reshape(list(keeps.shape))
        except e.Error:
            continue
        return (keeps, shaped) if keeps is dst else (shaped, keeps)
    raise error(f"{tuple(src.shape)} is copied to {tuple(dst.shape)}, and neither can be viewed as the other",
                "copy it in pieces of one shape")


def _across(dst, src):
    """Between tiles of other numbers of partitions: by way of HBM, where any shape is a view."""
    memory = hbm_tensor(list(src.shape), src.dtype, private_hbm, "", None)
    moves.transfer(memory, src)
    return dst, memory._reshape(list(dst.shape))


_MOST_SOURCES = 16  # of a dma_compute: its documentation


def dma_compute(dst, srcs, reduce_op, scales=None, unique_indices=True, oob_mode=oob.error, name=None):
    """dst = the sum of the sources, added in fp32 and rounded once."""
    if alu_name(reduce_op) != "add" or (scales is not None and any(float(s) != 1 for s in scales)):
        raise error("dma_compute adds tensors, each times 1", "scale with nisa.tensor_scalar first")
    destination(dst, on_chip=False)
    sources = list(srcs)
    if not 1 <= len(sources) <= _MOST_SOURCES:
        raise error(f"dma_compute of {len(sources)} sources", f"give 1 to {_MOST_SOURCES}")
    skip = oob_mode is oob.skip
    # One that names all rows begins the sum: a gather may skip some.
    sources.sort(key=lambda s: (not _is_place_of(s, dst), s.by_values, s.dtype != dst.dtype))
    in_place, exact = _is_place_of(sources[0], dst), sources[0].dtype == dst.dtype
    if len(sources) > (2 if exact else 1) and dst.code != _dtypes.FP32:  # a sum that `dst` held would be rounded there
        into = _like(dst, _dtypes.FP32)
        _sum(into, sources, skip)
        _transfer(dst, into, skip=skip)
    else:
        _sum(dst, sources, skip, in_place)
    return DONE


def _is_place_of(source, dst):
    return source.place == dst.place and source.space == dst.space and source.by_values == dst.by_values


def _sum(dst, sources, skip, in_place=False):
    for i, source in enumerate(sources):
        if i > 0 or not in_place:
            _transfer(dst, source, accumulate=i > 0, skip=skip)


def _like(tensor, number):
    """A tensor of that shape and another type beside it."""
    if tensor.space == HBM:
        return hbm_tensor(list(tensor.shape), _dtypes.dtype_of(number), private_hbm, "", None)
    return e.temp(list(tensor.shape), number)


def dma_transpose(dst, src, axes=None, priority=None, dge_mode=dge.unknown, oob_mode=oob.error, name=None):
    if priority is not None:
        later("dma_transpose with a priority")
    destination(dst, on_chip=False)
    orders = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
    order = orders.get(src.ndim)
    if order is None or (axes is not None and tuple(axes) != order):
        raise error(f"a DMA transpose of {src.ndim} axes by {axes}", "use (1, 0), (2, 1, 0) or (3, 1, 2, 0)")
    shape = [src.shape[a] for a in order]
    if dst.ndim < src.ndim and [n for n in dst.shape if n > 1] == [n for n in shape if n > 1]:
        dst = dst._reshape(shape)  # up to SDK 2.29 axes of one place may be left out
    if list(dst.shape) != shape:
        raise error(f"dst has the shape {tuple(dst.shape)}, the result has {tuple(shape)}",
                    "give a destination of that shape")
    _check_transpose(dst, src, dge_mode)
    if src.by_values and src.space == HBM and src.index.size == 1:
        _transpose_moved(dst, src, oob_mode is oob.skip)
    elif src.by_values:
        gathered_transpose(dst, src, oob_mode is oob.skip)
    else:
        isa_moves.transpose_planes(dst, src)
    return DONE


def _check_transpose(dst, src, mode):
    """What DMA transposes, and who writes its descriptors. Source: nki.isa.dma_transpose."""
    mode = mode or dge.unknown
    state.descriptors.add((mode.name, engines.unknown.name))
    first, last = src.shape[0], src.shape[-1]
    sixteen = first == 16 if src.ndim == 2 else first in (1, 2, 4, 8, 16) and first * src.shape[-2] % 16 == 0
    other, one = (dge.swdge, "gathered rows") if src.by_values else (dge.hwdge, "rows that no index names")
    rules = (
        (src.code == dst.code, f"a DMA transpose of {src.dtype} to {dst.dtype}", "give both the same type"),
        (mode in (dge.unknown, other), f"dge_mode.{mode.name} does not transpose {one}",
         f"use dge_mode.{other.name}, or leave it out"),
        (mode is not dge.hwdge or e.is_later(3), "hardware descriptor generation exists from NeuronCore-v3 on",
         "leave dge_mode out"),
        (mode is not dge.hwdge or (sixteen and last <= 128 and dst.itemsize == 2),
         f"hardware descriptor generation does not transpose {tuple(src.shape)} of {src.dtype}",
         "give 16 rows of at most 128 numbers of two bytes, or leave dge_mode out"),
    )
    for holds, what, fix in rules:
        if not holds:
            raise error(what, fix)


def _transpose_moved(dst, src, skip):
    """dst = src transposed, where a number of the run says where src begins."""
    for first in range(0, src.shape[0], 128):
        count = min(128, src.shape[0] - first)
        rows = e.temp([count, *src.shape[1:]], src.code)
        moves.transfer(rows, src._cut(0, first, count), skip=skip)
        isa_moves.transpose_planes(dst._cut(dst.ndim - 1, first, count), rows)


def tensor_copy(dst, src, engine=engines.unknown, name=None):
    if engine is engines.scalar and not e.is_later(3):
        raise error("ScalarE of NeuronCore-v2 has no tensor_copy", "use nisa.activation with op=nl.copy")
    if e.is_tile(src) and src.by_values:
        return into(dst, isa.tensor_copy_dynamic_src, src, engine=engine)
    if e.is_tile(dst) and dst.by_values:
        isa.tensor_copy_dynamic_dst(dst=dst, src=src, engine=engine)
        return DONE
    value = known_value(src) if e.is_tile(dst) and dst.size == 1 and e.is_tile(src) else None
    into(dst, isa.tensor_copy, src, engine=engine)
    if value is not None:
        remember(dst, value)
    return DONE


def memset(dst, value, engine=engines.unknown, name=None):
    to = destination(dst)
    e.fill(engine_code(engine), to, value)
    if to.size == 1:
        remember(dst, value)
    return DONE


def nc_matmul(dst, stationary, moving, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              accumulate=None, tile_position=(), tile_size=(), perf_mode=perf.none, name=None):
    """dst = stationary.T @ moving, or adds it: by default where something was written before."""
    to = destination(dst)
    if to.space != PSUM:
        raise error("TensorE writes to PSUM", "give a destination with buffer=nl.psum")
    adds = not e.current().starts_sum(to) if accumulate is None else bool(accumulate)
    if bool(tile_position) != bool(tile_size):
        raise error("tile_position and tile_size make a tile of the array together", "give both, or neither")
    if tile_size and 32 in tile_size and not e.is_later(3):
        raise error("tiles of 32 rows or columns of the array exist from NeuronCore-v3 on", "use tiles of 64")
    if perf_mode is not perf.none:
        return into(to, double_row, stationary, moving, perf_mode.value, adds)
    return into(to, product, (stationary, moving), bool(is_stationary_onezero or is_moving_onezero), is_transpose,
                (tile_position, tile_size), adds and not is_transpose)


def nc_transpose(dst, data, engine=engines.unknown, name=None):
    to = destination(dst)
    if e.is_tile(data) and code(to.dtype) != code(data.dtype):
        doubted(f"nc_transpose of {data.dtype} to {to.dtype}: the SDK wants one type for both")
    if engine in (engines.unknown, None):
        engine = engines.tensor if to.space == PSUM else engines.vector
    return into(to, isa.nc_transpose, data, engine=engine)


def nc_stream_shuffle(dst, src, shuffle_mask, name=None):
    isa.nc_stream_shuffle(tile(src), destination(dst), shuffle_mask)
    return DONE
