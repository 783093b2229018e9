"""Tiles on the chip at places that only the run knows: one number moves an access pattern along its partitions."""
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki._state import HBM, error, state

_MOST_AXES = 4  # of an operand: the NKI architecture guide


def moved(view):
    """Whether a number of the run says where on the chip the view begins."""
    return view.by_values and view.space != HBM


def reached(index):
    """A number of one partition where engines begin: DMA brings it from others. Source: NKI architecture guide v2."""
    if index.start % 32 == 0:
        return index
    out = e.temp([1, 1], index.code)
    e.current().copy(out, index)
    return out


def _number(view):
    """How far the view is moved, as a tile of one int32."""
    index = view.index
    if index.partitions != 1 or index.cols != 1:
        raise error("a dynamic offset is one number in SBUF", "index the offsets to [1, 1]")
    index = reached(e.tile(index, "index"))
    if index.code == _dtypes.INT32:
        return index
    if index.code == _dtypes.UINT32:
        return index._as(_dtypes.INT32)
    out = e.temp([1, 1], _dtypes.INT32)
    e.put("tensor_copy", e.VECTOR, out, index)
    return out


def _axes(view):
    """The (step, size) of the free axes that have several elements; none where these follow one another in memory."""
    axes, joined = [(step, size) for step, size in view._steps()[1:] if size > 1], []
    for step, size in axes:
        if joined and joined[-1][0] == step * size:
            joined[-1] = (step, joined[-1][1] * size)
        else:
            joined.append((step, size))
    if not joined or (len(joined) == 1 and joined[0][0] == 1):
        return []
    if len(joined) > _MOST_AXES:
        raise error(f"the access pattern of {tuple(view.shape)} has {len(joined)} free axes, but an instruction takes "
                    f"{_MOST_AXES}", "copy it in pieces")
    return axes if len(axes) <= _MOST_AXES else joined


def _with_axes(tile, axes):
    """The tile with axes of these sizes, as an instruction counts steps along them; None where memory does not join
    its elements so."""
    sizes = [size for _, size in axes]
    if not axes or [size for size in tile.shape[1:] if size > 1] == sizes:
        return tile
    try:
        return tile._reshape([tile.partitions, *sizes])
    except e.Error:
        return None


def _settings(view, axes, first):
    """The numbers of a dynamic copy (isa/instr.h)."""
    if view.index_step < 0:
        raise error("a number of the run counts along an axis whose step is negative", "select from the tensor itself")
    unit = view.index_step or view.storage_size  # of an axis with one element, which has no step, 0 is the only place
    return {"ints": [unit, first, int(bool(axes)), 0], "steps": [step for step, _ in axes] or None}


def read(out, src, engine=e.ANY):
    """out = a tile that a number of the run moves; both have as many elements."""
    (whole, first), axes = src._from_there(), _axes(src)
    to = _with_axes(out, axes)
    if to is None:
        to = e.temp([src.partitions, *(size for _, size in axes)], out.code)
    engine = e.VECTOR if engine == e.ANY else engine
    e.put("tensor_copy_dynamic", engine, to, whole, _number(src), **_settings(src, axes, first))
    if to.place != out.place:
        e.current().copy(out, to._reshape(list(out.shape)))


def write(dst, src, engine=e.ANY):
    """The place in `dst` that a number of the run names = a tile."""
    if (dst.partitions, dst.cols) != (src.partitions, src.cols):
        raise error(f"{tuple(src.shape)} is copied to {tuple(dst.shape)}", "give both the same number of elements")
    (whole, first), axes = dst._from_there(), _axes(dst)
    source = _with_axes(src, axes)
    if source is None:
        source = e.temp([src.partitions, *(size for _, size in axes)], src.code)
        e.current().copy(source._reshape(list(src.shape)), src)
    engine = e.VECTOR if engine == e.ANY else engine
    e.put("tensor_copy_dynamic_dst", engine, whole, source, _number(dst), **_settings(dst, axes, first))


def fetched(view):
    """A tile of its own with the elements of a place that a number of the run names."""
    out = e.temp(list(view.shape), view.code, view.space)
    read(out, view)
    return out


def lent(dst, keeps):
    """A tile of its own in place of a destination that a number of the run moves: instructions other than copies have
    no such destination. `keeps`: the instruction may leave some of it as it is."""
    out = fetched(dst) if keeps else e.temp(list(dst.shape), dst.code, dst.space)
    state.lent.append((dst, out))
    return out


def give_back():
    """The results that instructions wrote to such tiles go to their destinations."""
    while state.lent:
        write(*state.lent.pop())


e.View._fetched = fetched
