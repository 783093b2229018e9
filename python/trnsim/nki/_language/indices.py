"""nki.language: indices, loops and the programs of a grid."""
import numpy as np

from trnsim import _core
from trnsim.nki._state import Dim, error, nc, state  # noqa: F401


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
    """The result of nl.mgrid: index tiles .p, .x, .y, ..."""
    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])
    w = property(lambda self: self[4])


class _Mgrid:
    __iter__ = None  # it has no end

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
    if isinstance(size, (int, np.integer)) and size < 0:
        raise error(f"nl.ds has {size} elements", "give 0 or more")
    if isinstance(start, (_core.View, _core.TileIndex)):
        return _core.Affine.arange(0, int(size), 1) + start
    if isinstance(start, (int, np.integer)) and start < 0:  # Python would count it from the end
        raise error(f"nl.ds begins at {start}, before the axis", "begin at 0 or later, or mask the instruction")
    return slice(start, start + size)


def numbers_of(args):
    """The bounds of a loop."""
    for a in args:
        if isinstance(a, _core.View):
            raise error("the number of iterations depends on a tile, whose values are known only at run time",
                        "use a shape, or a number")
        if isinstance(a, (float, np.floating)) and not float(a).is_integer():
            raise error(f"a loop runs to {a}, which is not a whole number", "use //, or math.ceil")
    return [int(a) for a in args]


# Hints that the compiler of the SDK takes from its loops, as published kernels give them: how many copies of the body's
# buffers it keeps, which follows from SBUF's room here.
_HINTS = ("multi_buffer",)


def _bounds(name, args, kwargs):
    """(start, stop, step) of a loop that is given some of them by name, without its hints."""
    kwargs = {key: value for key, value in kwargs.items() if key not in _HINTS}
    names = ("stop",) if len(args) == 1 and "stop" not in kwargs else ("start", "stop", "step")
    known = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in ("start", "stop", "step") or key in known:
            raise TypeError(f"nl.{name}() got an unexpected keyword argument '{key}'")
        known[key] = value
    if "stop" not in known or len(args) > len(names):
        raise TypeError(f"nl.{name}() takes 1 to 3 bounds: start, stop and step")
    return known.get("start", 0), known["stop"], known.get("step", 1)


def affine_range(*args, **kwargs):
    """A loop whose iterations do not need each other: the compiler may join them."""
    return _joinable(range(*numbers_of(_bounds("affine_range", args, kwargs))))


def _joinable(numbers):
    trace = state.trace
    if trace is None:
        yield from numbers
        return
    trace.begin_loop()
    try:
        for i in _counted(numbers, False):
            trace.next_iteration()
            yield i
    finally:
        if trace is state.trace:
            trace.end_loop()


class _Later(int):
    """A number of a loop that does not begin with 0."""
    first = False


class _First(_Later):
    first = True


def begins(index):
    """Whether the index of a loop is that of its first iteration."""
    return getattr(index, "first", int(index) == 0)


def _counted(numbers, each):
    """The numbers of a loop, which `state.loops` has while its body runs: `each` of them, or the loop alone."""
    if state.trace is None:
        yield from numbers
        return
    if numbers.start != 0:
        numbers = [_First(i) if i == numbers.start else _Later(i) for i in numbers]
    loops, depth = state.loops, len(state.loops)
    try:
        for i in numbers:
            loops[depth:] = [i if each else None]
            yield i
    finally:
        del loops[depth:]


def sequential_range(*args, directives=None, **kwargs):
    return _counted(range(*numbers_of(_bounds("sequential_range", args, kwargs))), False)


def static_range(*args):
    return _counted(range(*numbers_of(args)), True)


def _launched(axis):
    if not -len(state.grid) <= axis < len(state.grid):
        raise error(f"the launch grid has {len(state.grid)} axes, no axis {axis}", "launch it as kernel[grid](...)")
    return axis


def program_id(axis):
    return state.program[_launched(axis)]


def num_programs(axes=None):
    if axes is None:
        return int(np.prod(state.grid)) if state.grid else 1
    if isinstance(axes, int):
        return int(state.grid[_launched(axes)])
    return int(np.prod([state.grid[_launched(a)] for a in axes]))


def program_ndim():
    return len(state.grid)


def spmd_dim(*sizes):
    """An axis of the launch grid that these dimensions make up, of which nl.nc may name cores."""
    return Dim(*sizes)
