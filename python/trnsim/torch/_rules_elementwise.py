"""Operators on elements: by PyTorch's rules of types and broadcasting."""
import math

from trnsim.torch._emit import FLOATS
from trnsim.torch._lower import RULES, rule

UNARY = {"exp": "exponential", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "tanh": "tanh", "sigmoid": "logistic",
         "sin": "sine", "cos": "cosine", "tan": "tan", "neg": "negate", "abs": "abs", "floor": "floor", "ceil": "ceil",
         "expm1": "exponential_minus_one", "log1p": "log_plus_one", "sign": "sign", "sgn": "sign",
         "bitwise_not": "not", "erf": "chlo.erf", "erfc": "chlo.erfc", "erfinv": "chlo.erf_inv", "asin": "chlo.asin",
         "acos": "chlo.acos", "atan": "chlo.atan", "sinh": "chlo.sinh", "cosh": "chlo.cosh", "asinh": "chlo.asinh",
         "acosh": "chlo.acosh", "atanh": "chlo.atanh", "lgamma": "chlo.lgamma", "digamma": "chlo.digamma",
         "clone": None, "contiguous": None, "_to_copy": None, "alias": None, "detach": None, "lift_fresh": None,
         "special_bessel_i1e": "chlo.bessel_i1e", "positive": None, "convert_element_type": None}
WHOLE = {"abs", "neg", "sign", "sgn", "bitwise_not"}
BINARY = {"maximum": "maximum", "minimum": "minimum", "atan2": "atan2", "bitwise_and": "and", "bitwise_or": "or",
          "bitwise_xor": "xor", "pow": "power", "bitwise_left_shift": "shift_left",
          "bitwise_right_shift": "shift_right_arithmetic", "__lshift__": "shift_left",
          "__rshift__": "shift_right_arithmetic", "__and__": "and", "__or__": "or", "__xor__": "xor"}
OF_BITS = {"and", "or", "xor", "shift_left", "shift_right_arithmetic"}
COMPARE = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}


def unary(name, op):
    def lower(at, x, *_):
        if op is None:
            return x
        out = at.cast(x)
        if name not in WHOLE and at.element not in FLOATS:
            return out
        if op == "sign" and at.element in ("i1", "ui8"):  # of numbers that have none
            return at.text.convert(at.text.compare("NE", out, at.cast(0)), at.element)
        if op == "sign" and at.element in FLOATS:  # PyTorch's of NaN is 0, StableHLO's is NaN
            return at.text.select(at.text.compare("EQ", out, out), at.text.unary(op, out), at.cast(0))
        return at.text.unary(op, out)
    return lower


def binary(op):
    def lower(at, a, b, *_):
        if op in OF_BITS:
            at.refuse(FLOATS)
        return at.text.binary(op, at.cast(a), at.cast(b))
    return lower


def comparison(direction):
    def lower(at, a, b):
        element = at.common(a, b)
        return at.text.compare(direction, at.cast(a, element), at.cast(b, element))
    return lower


for _name, _op in UNARY.items():
    RULES[_name] = unary(_name, _op)
for _name, _op in BINARY.items():
    RULES[_name] = binary(_op)
for _name, _op in COMPARE.items():
    RULES[_name] = comparison(_op)


def times(at, a, factor):
    return a if type(factor) in (int, float, bool) and factor == 1 else at.text.binary("multiply", a, at.cast(factor))


@rule("add")
def add(at, a, b, alpha=1):
    if at.element == "i1":
        return at.text.binary("or", at.cast(a), at.cast(b)) if alpha else at.cast(a)
    return at.text.binary("add", at.cast(a), times(at, at.cast(b), alpha))


@rule("sub")
def subtract(at, a, b, alpha=1):
    return at.text.binary("subtract", at.cast(a), times(at, at.cast(b), alpha))


@rule("rsub")
def reverse_subtract(at, a, b, alpha=1):
    return at.text.binary("subtract", at.cast(b), times(at, at.cast(a), alpha))


@rule("mul")
def multiply(at, a, b):
    return at.text.binary("and" if at.element == "i1" else "multiply", at.cast(a), at.cast(b))


@rule("div")
def divide(at, a, b, rounding_mode=None):
    whole = at.element not in FLOATS
    if rounding_mode == "floor":
        return floor_divide(at, at.cast(a), at.cast(b)) if whole else floor_quotient(at, a, b)
    out = at.text.binary("divide", at.cast(a), at.cast(b))
    return out if whole or rounding_mode is None else truncated(at, out)


@rule("floor_divide")
def floor_division(at, a, b):
    return divide(at, a, b, "floor")


def floor_divide(at, a, b):
    """For integers, whose division truncates: one less where the remainder has the other sign."""
    text, zero = at.text, at.cast(0)
    rest = text.binary("remainder", a, b)
    other = text.binary("and", text.compare("NE", rest, zero),
                        text.compare("NE", text.compare("LT", rest, zero), text.compare("LT", b, zero)))
    return text.binary("subtract", text.binary("divide", a, b), text.convert(other, at.element))


def floor_quotient(at, a, b):
    """The floor of a quotient of real numbers, by the rest of the division: a quotient that is rounded up to a whole
    number is one too many, and that of an infinity is no number. In fp32, for shorter types too."""
    text, element = at.text, "f32" if at.element in ("f16", "bf16") else at.element
    a, b, zero, one = [at.cast(item, element) for item in (a, b, 0, 1)]
    rest = text.binary("remainder", a, b)
    whole = text.binary("divide", text.binary("subtract", a, rest), b)
    other = text.binary("and", text.compare("NE", rest, zero),
                        text.compare("NE", text.compare("LT", rest, zero), text.compare("LT", b, zero)))
    whole = text.select(other, text.binary("subtract", whole, one), whole)
    low = text.unary("floor", whole)
    far = text.compare("GT", text.binary("subtract", whole, low), at.cast(0.5, element))
    low = text.select(far, text.binary("add", low, one), low)
    quotient = text.binary("divide", a, b)
    none = text.binary("multiply", text.unary("sign", quotient), zero)  # 0 with the quotient's sign
    out = text.select(text.compare("NE", whole, zero), low, none)
    return text.convert(text.select(text.compare("EQ", b, zero), quotient, out), at.element)


def truncated(at, x):
    return at.text.binary("multiply", at.text.unary("sign", x), at.text.unary("floor", at.text.unary("abs", x)))


@rule("trunc", "fix")
def truncate(at, x):
    return truncated(at, x) if at.element in FLOATS else x


@rule("frac")
def fraction(at, x):
    return at.text.binary("subtract", x, truncated(at, x))


@rule("round")
def rounded(at, x, decimals=0):
    if at.element not in FLOATS:
        return x
    scale = at.cast(10.0 ** decimals)
    out = at.text.unary("round_nearest_even", at.text.binary("multiply", x, scale) if decimals else x)
    return at.text.binary("divide", out, scale) if decimals else out


@rule("fmod")
def remainder_of_dividend(at, a, b):
    return at.text.binary("remainder", at.cast(a), at.cast(b))


@rule("remainder")
def remainder_of_divisor(at, a, b):
    text, a, b, zero = at.text, at.cast(a), at.cast(b), at.cast(0)
    rest = text.binary("remainder", a, b)
    other = text.binary("and", text.compare("NE", rest, zero),
                        text.compare("NE", text.compare("LT", rest, zero), text.compare("LT", b, zero)))
    return text.select(other, text.binary("add", rest, b), rest)


@rule("reciprocal")
def reciprocal(at, x):
    return at.text.binary("divide", at.cast(1), at.cast(x))


@rule("square")
def square(at, x):
    x = at.cast(x)
    return at.text.binary("multiply", x, x)


@rule("exp2")
def power_of_two(at, x):
    return at.text.unary("exponential", at.text.binary("multiply", at.cast(x), at.cast(math.log(2))))


@rule("log2", "log10")
def other_logarithm(at, x):
    base = 2 if at.call.func._schema.name.endswith("2") else 10
    return at.text.binary("divide", at.text.unary("log", at.cast(x)), at.cast(math.log(base)))


@rule("pow")
def power(at, a, b):
    if at.element in FLOATS and b in (2, 2.0, 3, 3.0) and type(b) in (int, float):
        a = at.cast(a)
        out = at.text.binary("multiply", a, a)
        return at.text.binary("multiply", out, a) if b == 3 else out
    return at.text.binary("power", at.cast(a), at.cast(b))


@rule("addcmul")
def add_product(at, x, a, b, value=1):
    product = at.text.binary("multiply", at.cast(a), at.cast(b))
    return at.text.binary("add", at.cast(x), times(at, product, value))


@rule("addcdiv")
def add_quotient(at, x, a, b, value=1):
    return at.text.binary("add", at.cast(x), times(at, at.text.binary("divide", at.cast(a), at.cast(b)), value))


@rule("lerp")
def interpolate(at, a, b, weight):
    a, b = at.cast(a), at.cast(b)
    return at.text.binary("add", a, at.text.binary("multiply", at.cast(weight), at.text.binary("subtract", b, a)))


@rule("relu")
def relu(at, x):
    return at.text.binary("maximum", at.cast(x), at.cast(0))


@rule("threshold_backward")
def relu_gradient(at, grad, x, threshold):
    over = at.text.compare("GT", at.cast(x), at.cast(threshold))
    return at.text.select(over, at.cast(grad), at.cast(0))


@rule("clamp", "clip")
def clamp(at, x, low=None, high=None):
    x = at.cast(x)
    x = x if low is None else at.text.binary("maximum", x, at.cast(low))
    return x if high is None else at.text.binary("minimum", x, at.cast(high))


@rule("clamp_min")
def clamp_low(at, x, low):
    return clamp(at, x, low)


@rule("clamp_max")
def clamp_high(at, x, high):
    return clamp(at, x, None, high)


@rule("where")
def where(at, condition, a, b):
    return at.text.select(at.cast(condition, "i1"), at.cast(a), at.cast(b))


@rule("masked_fill")
def masked_fill(at, x, mask, value):
    return at.text.select(at.cast(mask, "i1"), at.cast(value), at.cast(x))


@rule("logical_and", "logical_or", "logical_xor")
def logical(at, a, b):
    op = at.call.func._schema.name.rsplit("_", 1)[1]
    return at.text.binary(op, at.cast(a, "i1"), at.cast(b, "i1"))


@rule("logical_not")
def logical_not(at, x):
    return at.text.unary("not", at.cast(x, "i1"))


@rule("isnan")
def is_nan(at, x):
    return at.text.compare("NE", x, x)


@rule("isfinite")
def is_finite(at, x):
    return at.text.is_finite(x) if x.element in FLOATS else at.cast(True)


@rule("isinf")
def is_infinite(at, x):
    if x.element not in FLOATS:
        return at.cast(False)
    return at.text.compare("EQ", at.text.unary("abs", x), at.text.constant(math.inf, x.element, x.shape))


@rule("sigmoid_backward")
def sigmoid_gradient(at, grad, y):
    y = at.cast(y)
    slope = at.text.binary("multiply", y, at.text.binary("subtract", at.cast(1), y))
    return at.text.binary("multiply", at.cast(grad), slope)


@rule("tanh_backward")
def tanh_gradient(at, grad, y):
    y = at.cast(y)
    slope = at.text.binary("subtract", at.cast(1), at.text.binary("multiply", y, y))
    return at.text.binary("multiply", at.cast(grad), slope)


@rule("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided",
      "zero", "_efficientzerotensor")
def zeros(at, *_):
    return at.cast(0)


@rule("ones", "ones_like", "new_ones")
def ones(at, *_):
    return at.cast(1)


@rule("full", "full_like", "new_full", "fill")
def full(at, first, second, *rest):
    values = [first, second] + list(rest)
    name = at.call.func._schema.name.split("::")[1]
    return at.cast(values[2] if name == "new_full" else second)


@rule("scalar_tensor")
def scalar(at, value, *_):
    return at.cast(value)


@rule("arange")
def arange(at, *args):
    overload = at.call.func._overloadname
    start, step = (0, 1) if overload == "default" else (args[0], args[2] if overload == "start_step" else 1)
    place = at.text.iota(at.shape, 0, at.element)
    if step != 1:
        place = at.text.binary("multiply", place, at.cast(step))
    return at.text.binary("add", place, at.cast(start)) if start else place


@rule("eye")
def eye(at, *_):
    return at.text.compare("EQ", at.text.iota(at.shape, 0, "i32"), at.text.iota(at.shape, 1, "i32"))
