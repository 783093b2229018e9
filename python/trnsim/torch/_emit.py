"""A program in StableHLO's text, written operation by operation: X is a value with its shape and element, Text the
program. Shapes and elements of results are worked out here, so that rules of operators name operations alone."""
import math
import struct

FLOATS = ("f64", "f32", "bf16", "f16")


class X:
    """A value of the program."""
    __slots__ = ("name", "shape", "element")

    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        return type_text(self.shape, self.element)

    @property
    def form(self):
        return self.shape, self.element

    @property
    def rank(self):
        return len(self.shape)


def type_text(shape, element):
    return "tensor<" + "".join(f"{d}x" for d in shape) + element + ">"


def number_text(value, element):
    if element == "i1":
        return "true" if value else "false"
    if element not in FLOATS:
        return str(int(value))
    value = float(value)
    if math.isfinite(value):
        return repr(value) if "e" in repr(value) or "." in repr(value) else repr(value) + ".0"
    return bits_text(value, element)


def bits_text(value, element):
    """The hexadecimal form, which alone can write infinities and NaN."""
    if element == "f64":
        return "0x" + struct.pack(">d", value).hex().upper()
    if element == "f16":
        return "0x" + struct.pack(">e", value).hex().upper()
    bits = struct.pack(">f", value).hex().upper()
    return "0x" + (bits[:4] if element == "bf16" else bits)


def listed(numbers):
    return "[" + ", ".join(str(int(n)) for n in numbers) + "]"


def array(numbers):
    return "array<i64" + (": " + ", ".join(str(int(n)) for n in numbers) if len(numbers) else "") + ">"


class Text:
    """The lines of one function, which grows by a call for each operation."""

    def __init__(self):
        self.lines, self.constants, self.count, self.where = [], {}, 0, None
        self.made = {}  # operations by their text: the same one twice is one
        self.collectives = 0

    def fresh(self):
        self.count += 1
        return f"%{self.count}"

    def put(self, text, shape, element):
        """`name = text`."""
        out = self.made.get(text)
        if out is None:
            out = self.made[text] = X(self.fresh(), shape, element)
            self.lines.append(f"    {out.name} = {text}")
        return out

    def several(self, text, values):
        """Results of the types of `values`: `name:n = text -> (types)`."""
        types = ", ".join(x.type for x in values)
        out = self.put(f"{text} -> {types if len(values) == 1 else f'({types})'}", *values[0].form)
        if len(values) == 1:
            return [out]
        if self.lines[-1].startswith(f"    {out.name} = "):
            self.lines[-1] = self.lines[-1].replace(f"{out.name} = ", f"{out.name}:{len(values)} = ", 1)
        return [X(f"{out.name}#{i}", x.shape, x.element) for i, x in enumerate(values)]

    def line(self, text, shape, element, types):
        """`name = stablehlo.text : types -> type`."""
        return self.put(f"{text} : ({types}) -> {type_text(shape, element)}", shape, element)

    def constant(self, value, element, shape=()):
        key = (repr(value), element, tuple(shape))
        if key not in self.constants:
            out = X(self.fresh(), shape, element)
            if 0 in shape:
                body = ""
            else:
                body = number_text(value, element)
            self.lines.append(f"    {out.name} = stablehlo.constant dense<{body}> : {out.type}")
            self.constants[key] = out
        return self.constants[key]

    def literal(self, numbers, element, shape):
        """A constant with numbers of its own, as nested lists."""
        def text_of(item):
            return "[" + ", ".join(text_of(x) for x in item) + "]" if isinstance(item, list) else \
                number_text(item, element)
        if 0 in shape:
            return self.constant(0, element, shape)
        return self.put(f"stablehlo.constant dense<{text_of(numbers)}> : {type_text(shape, element)}", shape, element)

    def unary(self, op, a):
        op = op if op.startswith("chlo.") else "stablehlo." + op
        types = a.type if not op.startswith("chlo.") else f"{a.type} -> {a.type}"
        return self.put(f"{op} {a.name} : {types}", a.shape, a.element)

    def binary(self, op, a, b):
        assert a.shape == b.shape and a.element == b.element, (op, a.type, b.type)
        return self.put(f"stablehlo.{op} {a.name}, {b.name} : {a.type}", a.shape, a.element)

    def is_finite(self, a):
        return self.line(f"stablehlo.is_finite {a.name}", a.shape, "i1", a.type)

    def compare(self, direction, a, b):
        return self.line(f"stablehlo.compare {direction}, {a.name}, {b.name}", a.shape, "i1", f"{a.type}, {b.type}")

    def select(self, p, a, b):
        return self.put(f"stablehlo.select {p.name}, {a.name}, {b.name} : {p.type}, {a.type}", a.shape, a.element)

    def convert(self, a, element):
        if a.element == element:
            return a
        if element == "i1":
            return self.compare("NE", a, self.constant(0, a.element, a.shape))
        return self.line(f"stablehlo.convert {a.name}", a.shape, element, a.type)

    def reshape(self, a, shape):
        if a.shape == tuple(shape):
            return a
        return self.line(f"stablehlo.reshape {a.name}", shape, a.element, a.type)

    def broadcast_in_dim(self, a, shape, dims):
        return self.line(f"stablehlo.broadcast_in_dim {a.name}, dims = {listed(dims)}", shape, a.element, a.type)

    def broadcast(self, a, shape):
        """By PyTorch's rule: dimensions are aligned at the last."""
        if a.shape == tuple(shape):
            return a
        return self.broadcast_in_dim(a, shape, range(len(shape) - a.rank, len(shape)))

    def transpose(self, a, permutation):
        permutation = list(permutation)
        if permutation == list(range(a.rank)):
            return a
        shape = [a.shape[p] for p in permutation]
        return self.line(f"stablehlo.transpose {a.name}, dims = {listed(permutation)}", shape, a.element, a.type)

    def slice(self, a, starts, limits, strides=None):
        strides = strides or [1] * a.rank
        if list(starts) == [0] * a.rank and tuple(limits) == a.shape and set(strides) <= {1}:
            return a
        shape = [max(0, -(-(e - s) // t)) for s, e, t in zip(starts, limits, strides)]
        bounds = ", ".join(f"{s}:{e}:{t}" for s, e, t in zip(starts, limits, strides))
        return self.line(f"stablehlo.slice {a.name} [{bounds}]", shape, a.element, a.type)

    def concatenate(self, parts, dim):
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[dim] = sum(p.shape[dim] for p in parts)
        names = ", ".join(p.name for p in parts)
        return self.line(f"stablehlo.concatenate {names}, dim = {dim}", shape, parts[0].element,
                         ", ".join(p.type for p in parts))

    def pad(self, a, value, low, high, interior=None):
        interior = interior or [0] * a.rank
        shape = [p + d + max(0, d - 1) * i + q for p, d, i, q in zip(low, a.shape, interior, high)]
        text = f"stablehlo.pad {a.name}, {value.name}, low = {listed(low)}, high = {listed(high)}, " \
               f"interior = {listed(interior)}"
        return self.line(text, shape, a.element, f"{a.type}, {value.type}")

    def iota(self, shape, dim, element):
        return self.put(f"stablehlo.iota dim = {dim} : {type_text(shape, element)}", shape, element)

    def reverse(self, a, dims):
        return self.put(f"stablehlo.reverse {a.name}, dims = {listed(dims)} : {a.type}", a.shape, a.element)

    def reduce(self, op, a, initial, dims):
        """Over a monoid by name: add, multiply, maximum, minimum, and, or."""
        dims = sorted(dims)
        if not dims:
            return a
        start = self.constant(initial, a.element)
        shape = [d for i, d in enumerate(a.shape) if i not in dims]
        text = f"stablehlo.reduce({a.name} init: {start.name}) applies stablehlo.{op} " \
               f"across dimensions = {listed(dims)}"
        return self.line(text, shape, a.element, f"{a.type}, {start.type}")

    def dot_general(self, a, b, batch, contract, chosen=False):
        """`batch` and `contract`: pairs of lists of dimensions, of a and of b. `chosen`: zeros of b take nothing of a,
        infinities neither."""
        free = [[d for d in range(x.rank) if d not in batch[i] and d not in contract[i]] for i, x in enumerate((a, b))]
        shape = [a.shape[d] for d in batch[0]] + [a.shape[d] for d in free[0]] + [b.shape[d] for d in free[1]]
        batching = f"batching_dims = {listed(batch[0])} x {listed(batch[1])}, " if batch[0] else ""
        text = f"stablehlo.dot_general {a.name}, {b.name}, {batching}contracting_dims = {listed(contract[0])} x " \
               f"{listed(contract[1])}{' {trnsim.chosen = true}' if chosen else ''}"
        return self.line(text, shape, a.element, f"{a.type}, {b.type}")

    def region(self, operands, body, attributes, outs, op):
        """The generic form with a region: `body` has its lines, `outs` the shapes and elements of the results."""
        outs = [X(None, *out) for out in outs]
        name = self.fresh()
        names = [name] if len(outs) == 1 else [f"{name}#{i}" for i in range(len(outs))]
        left = name if len(outs) == 1 else f"{name}:{len(outs)}"
        arguments = ", ".join(x.name for x in operands)
        types = ", ".join(x.type for x in operands)
        results = ", ".join(x.type for x in outs)
        results = results if len(outs) == 1 else f"({results})"
        self.lines.append(f'    {left} = "stablehlo.{op}"({arguments}) ({{')
        self.lines += ["      " + line for line in body]
        self.lines.append(f"    }}) {{{attributes}}} : ({types}) -> {results}")
        for out, known in zip(outs, names):
            out.name = known
        return outs

    def monoid(self, op, element):
        """The lines of a region of two scalars; no operation: the second one replaces the first."""
        a, b, r = self.fresh(), self.fresh(), self.fresh()
        scalar = f"tensor<{element}>"
        head = [f"^bb0({a}: {scalar}, {b}: {scalar}):"]
        if op is None:
            return head + [f"stablehlo.return {b} : {scalar}"]
        return head + [f"{r} = stablehlo.{op} {a}, {b} : {scalar}", f"stablehlo.return {r} : {scalar}"]

    def chooser(self, direction, element):
        a, b, r = self.fresh(), self.fresh(), self.fresh()
        scalar = f"tensor<{element}>"
        return [f"^bb0({a}: {scalar}, {b}: {scalar}):",
                f"{r} = stablehlo.compare {direction}, {a}, {b} : ({scalar}, {scalar}) -> tensor<i1>",
                f"stablehlo.return {r} : tensor<i1>"]
