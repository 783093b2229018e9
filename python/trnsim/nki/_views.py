"""Methods of tensors that name other parts of the same memory: nki.language.NkiTensor."""
import functools
import math
import operator

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki import _places
from trnsim.nki._language.types import psum, sbuf, shared_hbm
from trnsim.nki._newer.registers import VirtualRegister, offset_tile
from trnsim.nki._state import HBM, PSUM, SBUF, error
from trnsim.nki._unmeant import UNMEANT, told

View = _core.View


def _axis(view, dim):
    if not isinstance(dim, int) or not -view.ndim <= dim < view.ndim:
        raise error(f"axis {dim} of a tensor with {view.ndim}", "name an axis that it has")
    return dim % view.ndim


def _free_axis(view, dim, method):
    axis = _axis(view, dim)
    if axis == 0 and view.space != HBM:
        raise error(f"{method} changes the partitions", "name a later axis, or move the data")
    return axis


def _whole(shape, size):
    """The sizes, with the one that is -1 found."""
    sizes = [int(s) for s in shape]
    if sizes.count(-1) > 1 or any(s < -1 for s in sizes):
        raise error(f"the shape {tuple(sizes)}", "give whole numbers, none below 0 but one -1 at most")
    if -1 in sizes:
        known = math.prod(s for s in sizes if s != -1)
        if known == 0 or size % known:
            raise error(f"{size} elements cannot be reshaped to {tuple(sizes)}", "keep the number of elements")
        sizes[sizes.index(-1)] = size // known
    return sizes


def reshape(self, *shape, **named):
    """The same elements with other sizes of axes."""
    given = named.get("shape", shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
    sizes = [given] if isinstance(given, int) else given
    return self._reshape(_whole(sizes, self.size))


def permute(self, dims):
    return self._permuted([operator.index(d) for d in dims])


def broadcast(self, dim, size):
    axis = _free_axis(self, dim, "broadcast")
    if self.shape[axis] != 1:
        raise error(f"axis {dim} has {self.shape[axis]} elements", "broadcast an axis of size 1")
    if size < 0:
        raise error(f"an axis of {size} elements", "give 0 or more")
    return self._broadcast([size if d == axis else s for d, s in enumerate(self.shape)])


def expand_dim(self, dim):
    at = dim if dim >= 0 else dim + self.ndim + 1
    if at == 0 and self.space != HBM:
        raise error("expand_dim changes the partitions", "add a later axis")
    return self[tuple([slice(None)] * at + [None])]


def squeeze_dim(self, dim):
    axis = _free_axis(self, dim, "squeeze_dim")
    if self.shape[axis] != 1:
        raise error(f"axis {dim} has {self.shape[axis]} elements", "remove an axis of size 1")
    return self._without(axis)


def reshape_dim(self, dim, shape):
    axis = _axis(self, dim)
    sizes = _whole(shape, self.shape[axis])
    if axis == 0 and self.space != HBM and len(sizes) > 1:
        raise error("reshape_dim changes the partitions", "split a later axis")
    if math.prod(sizes) != self.shape[axis]:
        raise error(f"an axis of {self.shape[axis]} is split into {tuple(sizes)}", "keep the number of elements")
    return self._split(axis, sizes)


def flatten_dims(self, start_dim, end_dim):
    first, last = _free_axis(self, start_dim, "flatten_dims"), _axis(self, end_dim)
    shape = list(self.shape)
    return self._reshape(shape[:first] + [math.prod(shape[first:last + 1])] + shape[last + 1:])


def slice_(self, dim, start, end, step=1):
    axis = _axis(self, dim)
    if not 0 <= start < end <= self.shape[axis] or step < 1:
        raise error(f"{start} to {end} of an axis of {self.shape[axis]}", "give 0 <= start < end <= size, step >= 1")
    return self[tuple([slice(None)] * axis + [slice(start, end, step)])]


def select(self, dim, index):
    axis = _axis(self, dim)
    if not isinstance(index, View) and getattr(index, "known", True):
        if isinstance(index, VirtualRegister) and index.value < 0:  # it counts from the begin, as an address does
            raise error(f"a register that names a place holds {index.value}", "give 0 or more")
        place = int(index) if isinstance(index, VirtualRegister) else operator.index(index)
        return self[tuple([slice(None)] * axis + [place])]
    if self.by_values:
        raise error("a tensor is indexed by values twice", "copy it in between")
    steps = self._steps()
    rest = [pair for d, pair in enumerate(steps) if d != axis]
    if self.space == HBM:
        return moved_by(self._patterned(rest or [(1, 1)], self.offset), index, steps[axis][0])
    _free_axis(self, dim, "a dynamic select")
    return self._cut(axis, 0, 1)._without(axis)._with_index(offset_tile(index), steps[axis][0], self.shape[axis])


def vector_select(self, dim, vector_offset):
    if dim != 0 or self.space != HBM:
        raise error("vector_select is of axis 0 of a tensor in HBM", "use select, or nisa.local_gather")
    steps = self._steps()
    rows = vector_offset.shape[0]
    view = self._patterned([(steps[0][0], rows)] + steps[1:], self.offset, True)
    return view._with_index(e.tile(vector_offset), steps[0][0], self.shape[0])


def ap(self, pattern, offset=None, scalar_offset=None, vector_offset=None, indirect_dim=0, dtype=None):
    """The memory of the tensor by an access pattern of the hardware; `offset` is counted from its own first element."""
    base = self if dtype is None else self._retyped(_dtypes.code(dtype))
    pairs = [(operator.index(step), operator.index(size)) for step, size in pattern]
    if any(size < 0 for _, size in pairs):
        raise error(f"the access pattern {[list(pair) for pair in pairs]}", "give sizes of 0 or more")
    first = base.offset + (0 if offset is None else operator.index(offset))
    if scalar_offset is None and vector_offset is None:
        return base._patterned(pairs, first)
    if scalar_offset is not None and vector_offset is not None:
        raise error("an access pattern with two dynamic offsets", "give scalar_offset or vector_offset")
    indirect_dim = _axis(self, indirect_dim)
    unit = math.prod(self.shape[indirect_dim + 1:])  # a row of this tensor, counted in elements of the pattern's type
    unit = unit * _dtypes.size_of(self.code) // _dtypes.size_of(base.code)
    if vector_offset is not None:
        if indirect_dim != 0 or self.space != HBM:
            raise error("vector_offset is of axis 0 of a tensor in HBM", "use scalar_offset, or nisa.local_gather")
        view = base._patterned([(unit, pairs[0][1])] + pairs[1:], first, True)
        return view._with_index(e.tile(vector_offset), unit, _count(view, unit))
    if self.space == HBM:
        return moved_by(base._patterned(pairs, first, True), scalar_offset, unit)
    if getattr(scalar_offset, "known", False):
        return base._patterned(pairs, _within(base, first, scalar_offset.value * unit))
    view = base._patterned(pairs, first, True)
    return view._with_index(offset_tile(scalar_offset), unit, base.storage_size // unit)


def _within(base, first, by):
    """Where a pattern on the chip begins that a known number moves. Errors: in another partition."""
    row = base.storage_size
    if not 0 <= first % row + by < row:
        raise error(f"the access pattern begins at element {first % row + by} of {row}", "keep it inside the tensor")
    return first + by


def moved_by(view, scalar, unit):
    """A tensor in HBM that a number of the run moves: who reads the view reads the number, and not who makes it."""
    if isinstance(scalar, VirtualRegister):
        if scalar.known:
            return view._moved(scalar.value * unit)
        scalar = offset_tile(scalar)
    if scalar.size != 1:
        raise error("a dynamic offset is one number", "give a tensor of the shape (1, 1)")
    return view._with_index(scalar._reshape([1, 1]), unit, _count(view, unit))


def _count(view, unit):
    """How many places, `unit` elements apart, one row of the view can begin at without leaving its tensor."""
    length = 1 + sum(step * (size - 1) for step, size in view._steps()[1:])
    return max(0, (view.storage_size - view.offset - length) // unit + 1)


def one_row(tensor, other):
    """A line of HBM that a number of the run moves, as the one row that the tile on the other side is."""
    moved = tensor.by_values and tensor.space == HBM and tensor.index.size == 1 and tensor.ndim == 1
    if not moved or other.ndim != 2 or other.shape[0] != 1:
        return tensor
    row = tensor._reshape([1, *tensor.shape])
    return row._with_index(tensor.index, tensor.index_step, _count(row, tensor.index_step))


def in_rows(view):
    """The same with rows as near as its own rows and those of its index allow, and how many of them the index and a
    row are apart."""
    step, unit = view._steps()[0][0], view.index_step
    each = math.gcd(unit, step)
    return view._with_index(offset_tile(view.index), each, _count(view, each)), unit // each, step // each


def by_rows(view):
    """The same with an index for each row: that of the first, and how far the row is from it."""
    (step, rows), unit = view._steps()[0], view.index_step
    each = math.gcd(unit, step)
    wide = e.temp([rows, 1], _dtypes.INT32)
    e.current().copy(wide, e.spread(_places.reached(offset_tile(view.index)), [rows, 1]))
    if unit != each:
        index = e.temp([rows, 1], _dtypes.INT32)
        e.put("tensor_scalar", e.VECTOR, index, wide, None, alu0=e.ALU["mul"], ints=[unit // each, 0, 0, 0])
        wide = index
    places, index = e.temp([rows, 1], _dtypes.INT32), e.temp([rows, 1], _dtypes.INT32)
    e.put("iota", e.GPSIMD, places, imm=(0.0, float(step // each), 0.0, 0.0))
    e.put("tensor_tensor", e.GPSIMD, index, wide, places, alu0=e.ALU["add"])
    return view._with_index(index, each, _count(view, each))


def indirect(self, index, num_elem=None):
    raise error("tensor indirection on the chip is of NeuronCore-v4",
                "use nisa.nc_n_gather, or dma_copy by vector_offset")


def view_as(self, dtype):
    """The same bytes as numbers of another type."""
    return self._as(_dtypes.code(dtype))


def is_contiguous(self):
    expected = 1
    for step, size in reversed(self._steps()[0 if self.space == HBM else 1:]):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


def rearrange(self, src_pattern, dst_pattern, fixed_sizes=None):
    """Axes split, put in another order and joined, by names."""
    known, sizes, view = dict(fixed_sizes or {}), [], self
    if len(src_pattern) != self.ndim:
        raise error(f"{len(src_pattern)} names for {self.ndim} axes", "name each axis")
    for axis, names in enumerate(src_pattern):
        sizes.append(_named_sizes((names,) if isinstance(names, str) else tuple(names), self.shape[axis], known))
    for axis in reversed(range(self.ndim)):
        if len(sizes[axis]) > 1:
            view = reshape_dim(view, axis, [n for _, n in sizes[axis]])
    order = [name for part in sizes for name, _ in part]
    groups = [(g,) if isinstance(g, str) else tuple(g) for g in dst_pattern]
    wanted = [name for g in groups for name in g]
    if sorted(order) != sorted(wanted):
        raise error(f"the names {wanted} are not those of {order}", "use the same names on both sides")
    view = permute(view, [order.index(name) for name in wanted])
    length = {name: n for part in sizes for name, n in part}
    return view._reshape([math.prod(length[name] for name in g) for g in groups])


def _named_sizes(names, size, known):
    """The (name, size) pairs of an axis; one may be unknown."""
    found = [known.get(name, -1) for name in names]
    if len(names) == 1:
        found = [size]
    return list(zip(names, _whole(found, size)))


def _guarded(name, method):
    """The method, whose exceptions about arguments of other kinds are errors of the call."""
    @functools.wraps(method)
    def call(self, *args, **named):
        try:
            return method(self, *args, **named)
        except UNMEANT as problem:
            raise told(name, problem) from None
    return call


_BUFFERS = {SBUF: sbuf, PSUM: psum, HBM: shared_hbm}
for _name, _method in (("reshape", reshape), ("permute", permute), ("broadcast", broadcast), ("expand_dim", expand_dim),
                       ("squeeze_dim", squeeze_dim), ("reshape_dim", reshape_dim), ("flatten_dims", flatten_dims),
                       ("slice", slice_), ("indirect", indirect), ("select", select), ("vector_select", vector_select),
                       ("ap", ap), ("rearrange", rearrange), ("view", view_as), ("reinterpret_cast", view_as)):
    setattr(View, _name, _guarded(_name, _method))
View.is_contiguous = is_contiguous
View.is_indirect = lambda self: self.by_values
View.get_pattern = lambda self: [list(pair) for pair in self._steps()]
View.strides = property(lambda self: tuple(step for step, _ in self._steps()))
View.buffer = property(lambda self: _BUFFERS[self.space])
