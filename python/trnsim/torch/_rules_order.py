"""Sorted orders. The device has no sort: small ones compare each element with every other, the largest few are taken
one after the other."""
import math

from trnsim.torch import _emit_more
from trnsim.torch._emit import FLOATS
from trnsim.torch._lower import rule
from trnsim.torch._rules_movement import cut
from trnsim.torch._rules_reductions import counts_in, highest, lowest

MOST_COMPARED = 1 << 22  # pairs of elements
MOST_ROUNDS = 16         # of the largest, one by one


def named(at, rest):
    names = [a.name for a in at.call.func._schema.arguments[1:]]
    return dict(zip(names, rest))


def pairs(at, x, dim):
    """x[..., i, ...] and x[..., j, ...] with i at `dim` and j behind all."""
    wide = x.shape + (x.shape[dim],)
    others = [d for d in range(x.rank) if d != dim]
    one = at.text.broadcast_in_dim(x, wide, list(range(x.rank)))
    other = at.text.broadcast_in_dim(at.text.transpose(x, others + [dim]), wide, others + [x.rank])
    return one, other


def before(at, x, other, descending):
    """Whether `other` comes before `x`: NaN is the largest."""
    text = at.text
    out = text.compare("GT" if descending else "LT", other, x)
    if x.element not in FLOATS:
        return out, text.compare("EQ", other, x)
    nan_x, nan_other = text.compare("NE", x, x), text.compare("NE", other, other)
    number_x, number_other = text.unary("not", nan_x), text.unary("not", nan_other)
    late, early = (nan_other, number_x) if descending else (nan_x, number_other)
    out = text.binary("or", out, text.binary("and", late, early))
    return out, text.binary("or", text.compare("EQ", other, x), text.binary("and", nan_x, nan_other))


def ranked(at, x, dim, descending):
    """The place of each element in the stable order."""
    text = at.text
    one, other = pairs(at, x, dim)
    first, same = before(at, one, other, descending)
    earlier = text.compare("LT", text.iota(one.shape, x.rank, "i32"), text.iota(one.shape, dim, "i32"))
    ahead = text.binary("or", first, text.binary("and", same, earlier))
    counted = text.select(ahead, text.constant(1.0, "f32", one.shape), text.constant(0.0, "f32", one.shape))
    return text.reduce("add", counted, 0, [x.rank])


def ordered(at, x, dim, descending):
    """(sorted, indices)."""
    text = at.text
    if x.element == "i1":
        values, places = ordered(at, text.convert(x, "i32"), dim, descending)
        return text.convert(values, "i1"), places
    n = x.shape[dim]
    if math.prod(x.shape) * n > MOST_COMPARED:
        return _emit_more.sort(text, x, text.iota(x.shape, dim, "i64"), dim, descending)
    _, rank = pairs(at, ranked(at, x, dim, descending), dim)
    # [..., place, ..., i]: whether element i is at the place. Elements come last, so that no infinity is transposed.
    there = text.compare("EQ", rank, text.convert(text.iota(rank.shape, dim, "i32"), "f32"))
    _, wide = pairs(at, x, dim)
    return taken(text, there, wide, x.rank), place_of(text, there, x.rank)


def place_of(text, there, dim):
    """Where along `dim` the only true one is, in fp32, which has all these numbers."""
    found = text.select(there, counts_in(text, there, dim), text.constant(0.0, "f32", there.shape))
    return text.convert(text.reduce("add", found, 0.0, [dim]), "i64")


def taken(text, there, wide, dim):
    """The only element along `dim` for which `there` is true: the largest, where all others are the least."""
    if wide.element in FLOATS:
        nan = text.reduce("or", text.binary("and", there, text.compare("NE", wide, wide)), False, [dim])
        clean = text.select(text.compare("EQ", wide, wide), wide, text.constant(0, wide.element, wide.shape))
        kept = text.select(there, clean, text.constant(lowest(wide.element), wide.element, wide.shape))
        out = text.reduce("maximum", kept, lowest(wide.element), [dim])
        return text.select(nan, text.constant(math.nan, out.element, out.shape), out)
    kept = text.select(there, wide, text.constant(lowest(wide.element), wide.element, wide.shape))
    return text.reduce("maximum", kept, lowest(wide.element), [dim])


def both(text, a, b):
    """Where both are true; None is true everywhere."""
    return b if a is None else a if b is None else text.binary("and", a, b)


def least(text, x, dim, left):
    """(the smallest number, where it is), of NaN only where there is nothing else."""
    rest = [d for d in range(x.rank) if d != dim]
    end = text.constant(highest(x.element), x.element, x.shape)
    if x.element not in FLOATS:
        value = text.reduce("minimum", x if left is None else text.select(left, x, end), highest(x.element), [dim])
        return value, both(text, left, text.compare("EQ", x, text.broadcast_in_dim(value, x.shape, rest)))
    known = both(text, left, text.compare("EQ", x, x))
    some = text.reduce("or", known, False, [dim])
    value = text.reduce("minimum", text.select(known, x, end), highest(x.element), [dim])
    there = both(text, known, text.compare("EQ", x, text.broadcast_in_dim(value, x.shape, rest)))
    others = text.constant(True, "i1", x.shape) if left is None else left
    there = text.select(text.broadcast_in_dim(some, x.shape, rest), there, others)
    return text.select(some, value, text.constant(math.nan, x.element, value.shape)), there


def largest_of(text, x, dim, left):
    """(the largest number, where it is): NaN, where there is one."""
    rest = [d for d in range(x.rank) if d != dim]
    if left is not None:
        x = text.select(left, x, text.constant(lowest(x.element), x.element, x.shape))
    value = text.reduce("maximum", x, lowest(x.element), [dim])
    there = text.compare("EQ", x, text.broadcast_in_dim(value, x.shape, rest))
    if x.element in FLOATS:
        nan = text.compare("NE", x, x)
        any_nan = text.broadcast_in_dim(text.reduce("or", nan, False, [dim]), x.shape, rest)
        there = text.select(any_nan, nan, there)
    return value, both(text, left, there)


def extreme(at, x, dim, largest, left=None):
    """(value, its first place) along `dim`, kept with the size one, of those that are `left`."""
    text = at.text
    value, there = (largest_of if largest else least)(text, x, dim, left)
    size = x.shape[:dim] + (1,) + x.shape[dim + 1:]
    count = counts_in(text, x, dim)
    places = text.select(there, count, text.constant(x.shape[dim], count.element, x.shape))
    place = text.reduce("minimum", places, highest(count.element), [dim])
    return text.reshape(value, size), text.reshape(place, size)


@rule("sort")
def sort(at, x, *rest):
    found = named(at, rest)
    if not x.rank:
        return x, at.text.constant(0, "i64")
    return ordered(at, x, found["dim"] % x.rank, bool(found["descending"]))


@rule("topk")
def topk(at, x, k, dim=-1, largest=True, *_):
    text = at.text
    if not x.rank:
        return x, text.constant(0, "i64")
    dim = dim % x.rank
    if dim != x.rank - 1:  # along the last one, so that nothing infinite is transposed
        order = [d for d in range(x.rank) if d != dim] + [dim]
        back = [order.index(d) for d in range(x.rank)]
        return [text.transpose(y, back) for y in topk(at, text.transpose(x, order), k, -1, largest)]
    if k == 0 or k > MOST_ROUNDS or x.element == "i1":
        return [cut(at, y, dim, 0, k) for y in ordered(at, x, dim, largest)]
    values, places, left = [], [], None
    for _ in range(k):
        value, place = extreme(at, x, dim, largest, left)
        values.append(value)
        places.append(place)
        wide = text.broadcast_in_dim(place, x.shape, list(range(x.rank)))
        left = both(text, left, text.compare("NE", counts_in(text, x, dim), wide))
    return text.concatenate(values, dim), text.convert(text.concatenate(places, dim), "i64")
