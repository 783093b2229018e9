"""Python's operators on tensors of a kernel."""
import dis
import sys

import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes, language
from trnsim.nki._emit import NAMES, binary
from trnsim.nki._language.composed import assign
from trnsim.nki._state import HBM, current, error, state

View = _core.View


def _calibrate():
    """Counts the references of a result without a name: `a[...] = f()` may then write to `a` at once."""
    class Probe:
        def __setitem__(self, key, value):
            _core._set_unnamed(_core._refs(value), 0)
            self.assigned = _core._refs(value)

        def __iadd__(self, value):
            self.added = _core._refs(value)
            return self
    p = Probe()
    p[...] = object()
    p += object()
    _core._set_unnamed(p.assigned, p.added)


_calibrate()


def _setitem(self, key, value):
    self._set(key, value, assign)


def _iadd(self, value):
    if isinstance(value, View) and current().accumulate(self, value):
        return self
    return _in_place("add", self, value)


def _in_place(name, target, value):
    binary(NAMES.get(name, name), target, value, into=target)
    return target


def _binary(name):
    def forward(self, other):
        if isinstance(other, (_core.Affine, _core.TileIndex)) and name == "add":
            return other + self
        return getattr(language, name)(self, other)

    def backward(self, other):
        return getattr(language, name)(other, self)
    return forward, backward


_ARITHMETIC = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
               "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
               "rshift": "right_shift", "mod": "mod"}
_COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
             "ne": "not_equal"}
for _op, _name in _ARITHMETIC.items():
    _f, _b = _binary(_name)
    setattr(View, f"__{_op}__", _f)
    setattr(View, f"__r{_op}__", _b)
    if _op != "add":
        setattr(View, f"__i{_op}__", lambda self, value, _n=_name: _in_place(_n, self, value))
for _op, _name in _COMPARED.items():
    setattr(View, f"__{_op}__", _binary(_name)[0])


def _or_none(compare, answer):
    """A tensor is not None, whichever way that is asked."""
    return lambda self, other: answer if other is None else compare(self, other)


View.__eq__, View.__ne__ = _or_none(View.__eq__, False), _or_none(View.__ne__, True)
View.__copy__ = lambda self: self  # a copy of what holds tensors holds the same tensors
View.__deepcopy__ = lambda self, _: self
View.__setitem__ = _setitem
View.__iadd__ = _iadd
View.__hash__ = object.__hash__
View.__neg__ = lambda self: _binary("multiply")[0](self, -1.0)
View.__invert__ = language.invert


def _dynamic(self, *args):
    raise error("the values of a tile are known only at run time: a kernel cannot branch, divide or loop by them",
                "use shapes and Python numbers for that")


def _truth(self):
    """`assert nl.equal(a, b)` holds where it holds for every element, with the arguments of this call."""
    frame = sys._getframe(1)
    code, place = frame.f_code.co_code, frame.f_lasti + 2
    if place >= len(code) or dis.opname[code[place]] != "LOAD_ASSERTION_ERROR":
        return _dynamic(self)
    from trnsim.nki._emit import in_sbuf, tile
    from trnsim.nki._newer.registers import values_now
    return bool(np.all(values_now(in_sbuf(tile(self))).astype(np.float32) != 0))


View.__bool__ = _truth
for _op in ("__int__", "__index__", "__float__", "__floordiv__", "__rfloordiv__", "__divmod__"):
    setattr(View, _op, _dynamic)
View.__iter__ = lambda self: (self[i] for i in range(self.shape[0]))
View.__len__ = lambda self: self.shape[0]
View.dtype = property(lambda self: (_dtypes.text_of if state.newer else _dtypes.dtype_of)(self.code))
View.itemsize = property(lambda self: _dtypes.size_of(self.code))
View.size = property(lambda self: self.partitions * self.cols)
View.on_hbm = property(lambda self: self.space == HBM)


View.broadcast_to = lambda self, *shape: language.broadcast_to(
    self, shape=shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)


def _ufunc(self, ufunc, method, *inputs, **more):
    """NumPy's operators on a number and a tile are the tile's; its functions know no tiles."""
    name = {"true_divide": "divide", "remainder": "mod"}.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__" and not more and name in (*_ARITHMETIC.values(), *_COMPARED.values()):
        left, right = (i if isinstance(i, View) else np.asarray(i) for i in inputs)
        if isinstance(left, View) and (isinstance(right, View) or right.ndim == 0):
            return _binary(name)[0](left, right if isinstance(right, View) else right.item())
        if not isinstance(left, View) and left.ndim == 0:
            return _binary(name)[1](right, left.item())
        raise error("an operation mixes a NumPy array and a tile", "pass the array to the kernel, and load it")
    raise error(f"np.{ufunc.__name__} is given a tile: NumPy computes on the host", f"use nl.{name}, if it exists")


def _array(self, *_, **__):
    raise error("a tile is converted to an array, but its numbers are known only at run time",
                "return it from the kernel")


View.__array_ufunc__, View.__array__ = _ufunc, _array
View.__abs__ = language.abs


def _astype(self, dtype):
    return language.copy(self, dtype=dtype)


def _assert_shape(self, shape):
    if tuple(self.shape) != tuple(shape):
        raise error(f"a tile has the shape {tuple(self.shape)}, not {tuple(shape)}",
                    "correct the shape, or the assertion")
    return self


def _expand_dims(self, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    out = list(self.shape)
    wrong = next((a for a in axes if not -len(out) - len(axes) <= a < len(out) + len(axes)), None)
    if wrong is not None:
        raise error(f"axis {wrong} of a tensor that then has {len(out) + len(axes)}", "name an axis that it has then")
    if self.space != HBM and any(a in (0, -len(out) - len(axes)) for a in axes):
        raise error("an axis before the partitions of a tile", "add a later axis")
    for a in sorted(a if a >= 0 else a + len(out) + len(axes) for a in axes):
        out.insert(a, 1)
    return self._reshape(out)


View.astype = _astype
View.assert_shape = _assert_shape
View.as_tile = lambda self: self
View.expand_dims = _expand_dims
View.__repr__ = lambda self: f"tensor({tuple(self.shape)}, {self.dtype}, {('', 'sbuf', 'psum', 'hbm')[self.space]})"


def _added(index, other):
    """A place moves by numbers and indices; with a tile, it is the number that it stands for."""
    return language.add(index, other) if isinstance(other, View) else _moved(index, other)


_Places, _moved = _core.TileIndex, _core.TileIndex.__add__
_Places.__add__ = _Places.__radd__ = _added
for _op, _name in {**_ARITHMETIC, **_COMPARED}.items():
    if _op != "add":
        setattr(_Places, f"__{_op}__", _binary(_name)[0])
        setattr(_Places, f"__r{_op}__", _binary(_name)[1])
_Places.__neg__, _Places.__invert__, _Places.__abs__ = View.__neg__, View.__invert__, View.__abs__
_Affine = _core.Affine
for _op in ("__int__", "__index__"):
    setattr(_Affine, _op, lambda self: (_ for _ in ()).throw(
        error("an index tile is not a number: a kernel cannot branch or loop by it", "use a mask")))
for _op in ("__truediv__", "__rfloordiv__", "__rmod__", "__rtruediv__"):
    setattr(_Affine, _op, lambda self, other: (_ for _ in ()).throw(
        error("an index divides a number, or is divided into fractions", "use //, % and whole numbers")))
_Affine.__iter__ = None  # Python would ask for its items without end
_Affine.__array_ufunc__ = None  # a number of NumPy on the left leaves the operation to the index
_Affine.p = property(lambda self: self)
_Affine.ndim = property(lambda self: len(self.shape))
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10000))
