"""Programs of StableHLO drawn at random, with the values that PyTorch computes for them: `trnsim verify` must find them
right. Shapes, types, regions, loops; forward and backward of convolutions, gathers, pools and sums.

random_graphs.py TRNSIM COUNT SEED: prints how many agree; exit 1 when one does not, its program is kept."""
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.int32: "i32", torch.bool: "i1"}


def type_of(value):
    return "tensor<" + "".join(f"{size}x" for size in value.shape) + NAMES[value.dtype] + ">"


def dense(value):
    """The bytes of a tensor in hexadecimal; truth values one by one."""
    if value.dtype == torch.bool:
        return f"dense<{str(value.tolist()).lower()}>"
    flat = value.contiguous()
    raw = flat.view(torch.int16) if value.dtype == torch.bfloat16 else flat
    return f'dense<"0x{raw.numpy().tobytes().hex().upper()}">' if value.numel() else "dense<>"


class Program:
    """Lines, and the values that they have in PyTorch."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        torch.manual_seed(seed)
        self.lines, self.values = [], []

    def name(self, value):
        self.values.append(value)
        return f"%v{len(self.values) - 1}"

    def constant(self, value):
        name = self.name(value)
        self.lines.append(f"{name} = stablehlo.constant {dense(value)} : {type_of(value)}")
        return name, value

    def op(self, text, operands, value):
        """A line with the types of its operands and its result."""
        types = ", ".join(type_of(v) for _, v in operands)
        name = self.name(value)
        self.lines.append(f"{name} = {text} : ({types}) -> {type_of(value)}")
        return name, value

    def check(self, one):
        name, value = one
        expected = self.constant(value)[0]
        if value.dtype.is_floating_point:
            scale = float(value.abs().max()) if value.numel() else 0.0
            tolerance = 1e-4 + (1e-4 if value.dtype == torch.float32 else 0.05) * scale
            if value.dtype == torch.float64:
                tolerance = 1e-9 * (1 + scale)
            self.lines.append(f"check.expect_almost_eq {name}, {expected}, tolerance = {tolerance:.9e} : "
                              f"{type_of(value)}")
        else:
            self.lines.append(f"check.expect_eq {name}, {expected} : {type_of(value)}")

    def text(self):
        return "func.func @main() {\n  " + "\n  ".join(self.lines) + "\n  return\n}\n"


def draw_value(p, dims, dtype=None):
    dtype = dtype or p.draw.choice([torch.float32, torch.float32, torch.float64, torch.int32, torch.bfloat16])
    if dtype == torch.int32:
        return torch.randint(-50, 50, dims, dtype=dtype)
    return torch.randn(dims, dtype=torch.float64).to(dtype)


def draw_dims(p, rank=None):
    return [p.draw.choice([1, 2, 3, 4, 5, 7]) for _ in range(p.draw.randint(0, 4) if rank is None else rank)]


def region(p, op, dtype):
    scalar = f"tensor<{NAMES[dtype]}>"
    n = len(p.lines)
    return (f"({{\n  ^bb0(%a{n}: {scalar}, %b{n}: {scalar}):\n    %c{n} = stablehlo.{op} %a{n}, %b{n} : {scalar}\n"
            f"    stablehlo.return %c{n} : {scalar}\n  }})")


def elementwise(p, x):
    name, v = x
    other = p.constant(draw_value(p, list(v.shape), v.dtype))
    ops = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "maximum": torch.maximum,
           "minimum": torch.minimum}
    which = p.draw.choice(sorted(ops))
    return p.op(f"stablehlo.{which} {name}, {other[0]}", [x, other], ops[which](v, other[1]))


def function(p, x):
    name, v = x
    if not v.dtype.is_floating_point:
        return p.op(f"stablehlo.negate {name}", [x], -v)
    ops = {"tanh": torch.tanh, "logistic": torch.sigmoid, "cosine": torch.cos, "abs": torch.abs, "floor": torch.floor,
           "sign": torch.sign, "sine": torch.sin}
    which = p.draw.choice(sorted(ops))
    wide = v if v.dtype == torch.float64 else v.to(torch.float64)  # rounded once, as the reference does
    return p.op(f"stablehlo.{which} {name}", [x], ops[which](wide).to(v.dtype))


def transpose(p, x):
    order = list(range(x[1].dim()))
    p.draw.shuffle(order)
    return p.op(f"stablehlo.transpose {x[0]}, dims = {order}", [x], x[1].permute(order))


def broadcast(p, x):
    dims = list(x[1].shape)
    at = p.draw.randint(0, len(dims))
    size = p.draw.randint(1, 3)
    kept = [d if d < at else d + 1 for d in range(len(dims))]
    value = x[1].unsqueeze(at).expand(dims[:at] + [size] + dims[at:]).contiguous()
    return p.op(f"stablehlo.broadcast_in_dim {x[0]}, dims = {kept}", [x], value)


def cut(p, x):
    ranges = []
    for size in x[1].shape:
        start = p.draw.randint(0, size - 1)
        ranges.append((start, p.draw.randint(start + 1, size), p.draw.randint(1, 2)))
    value = x[1][tuple(slice(a, b, s) for a, b, s in ranges)] if ranges else x[1]
    return p.op(f"stablehlo.slice {x[0]} [{', '.join(f'{a}:{b}:{s}' for a, b, s in ranges)}]", [x], value)


def join(p, x):
    if not x[1].dim():
        return x
    along = p.draw.randrange(x[1].dim())
    return p.op(f"stablehlo.concatenate {x[0]}, {x[0]}, dim = {along}", [x, x], torch.cat([x[1], x[1]], along))


def total(p, x):
    if not x[1].dim() or x[1].dtype == torch.bfloat16:  # its sums depend on their order
        return x
    along = p.draw.randrange(x[1].dim())
    largest = p.draw.random() < 0.5
    start = p.constant(torch.tensor(-1000 if largest else 0, dtype=x[1].dtype))
    value = x[1].amax(along).clamp(min=-1000) if largest else x[1].sum(along, dtype=x[1].dtype)
    name = p.name(value)
    p.lines.append(f'{name} = "stablehlo.reduce"({x[0]}, {start[0]}) '
                   + region(p, "maximum" if largest else "add", x[1].dtype)
                   + f" {{dimensions = array<i64: {along}>}} : ({type_of(x[1])}, {type_of(start[1])}) "
                   f"-> {type_of(value)}")
    return name, value


def order(p, x):
    if not x[1].dim():
        return x
    along = p.draw.randrange(x[1].dim())
    value = torch.sort(x[1], dim=along).values
    name, scalar, n = p.name(value), f"tensor<{NAMES[x[1].dtype]}>", len(p.lines)
    p.lines.append(f'{name} = "stablehlo.sort"({x[0]}) ({{\n  ^bb0(%a{n}: {scalar}, %b{n}: {scalar}):\n'
                   f"    %c{n} = stablehlo.compare LT, %a{n}, %b{n} : ({scalar}, {scalar}) -> tensor<i1>\n"
                   f"    stablehlo.return %c{n} : tensor<i1>\n  }}) {{dimension = {along} : i64}} : "
                   f"({type_of(value)}) -> {type_of(value)}")
    return name, value


def product(p, x):
    if x[1].dim() < 1 or x[1].dtype not in (torch.float32, torch.float64):
        return x
    along = p.draw.randrange(x[1].dim())
    other = p.constant(draw_value(p, [3, x[1].shape[along]], x[1].dtype))
    value = torch.tensordot(x[1].double(), other[1].double(), ([along], [1])).to(x[1].dtype)
    return p.op(f"stablehlo.dot_general {x[0]}, {other[0]}, contracting_dims = [{along}] x [1]", [x, other], value)


def loop(p, x):
    """x is added to itself three times, in a loop that counts."""
    zero, three, one = (p.constant(torch.tensor(i, dtype=torch.int32)) for i in (0, 3, 1))
    value, n, t = x[1] + x[1], len(p.values), type_of(x[1])
    value = (value + x[1]) + x[1]
    p.lines.append(
        f"%l{n}:2 = stablehlo.while(%i{n} = {zero[0]}, %s{n} = {x[0]}) : tensor<i32>, {t} cond {{\n"
        f"    %c{n} = stablehlo.compare LT, %i{n}, {three[0]} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        f"    stablehlo.return %c{n} : tensor<i1>\n  }} do {{\n"
        f"    %j{n} = stablehlo.add %i{n}, {one[0]} : tensor<i32>\n"
        f"    %t{n} = stablehlo.add %s{n}, {x[0]} : {t}\n    stablehlo.return %j{n}, %t{n} : tensor<i32>, {t}\n  }}")
    return p.op(f"stablehlo.reshape %l{n}#1", [x], value)


def rows(p, x):
    """Rows of a table by indices, and back: gradients added up where an index is there twice."""
    if x[1].dim() != 2 or x[1].dtype == torch.bfloat16:
        return x
    count = p.draw.randint(1, 6)
    index = p.constant(torch.randint(0, x[1].shape[0], (count, 1), dtype=torch.int32))
    flat, columns = index[1][:, 0].long(), x[1].shape[1]
    dims = "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
    got = p.op(f'"stablehlo.gather"({x[0]}, {index[0]}) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
               f"{dims}>, slice_sizes = array<i64: 1, {columns}>}}", [x, index], x[1][flat])
    dims = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    return p.op(f'"stablehlo.scatter"({x[0]}, {index[0]}, {got[0]}) {region(p, "add", x[1].dtype)} '
                f"{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], {dims}>}}",
                [x, index, got], x[1].index_add(0, flat, got[1]))


STEPS = [elementwise, function, transpose, broadcast, cut, join, total, order, product, loop, rows]


def chain(p):
    x = p.constant(draw_value(p, draw_dims(p)))
    for _ in range(p.draw.randint(3, 9)):
        x = p.draw.choice(STEPS)(p, x)
        if x[1].numel() > 4000:
            break
    p.check(x)


def convolve(p, operands, result, window, numbers="[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", groups=1):
    return p.op(f"stablehlo.convolution({operands[0][0]}, {operands[1][0]}) dim_numbers = {numbers}, window = "
                f"{{{window}}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}", operands, result)


def convolution(p):
    """Forward, and the gradients of input and kernel as the convolutions that frameworks write for them."""
    groups, stride, dilation, pad = (p.draw.randint(1, 2) for _ in range(4))
    channels, features, k = 2 * groups, 2 * groups, p.draw.randint(1, 3)
    x = torch.randn(2, channels, 7, 8, requires_grad=True)
    w = torch.randn(features, channels // groups, k, k, requires_grad=True)
    y = F.conv2d(x, w, stride=stride, padding=pad, dilation=dilation, groups=groups)
    dy = torch.randn_like(y)
    y.backward(dy)
    cx, cw, cy = p.constant(x.detach()), p.constant(w.detach()), p.constant(dy)
    p.check(convolve(p, [cx, cw], y.detach(),
                     f"stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]], "
                     f"rhs_dilate = [{dilation}, {dilation}]", groups=groups))
    if groups > 1:
        return
    reach = dilation * (k - 1)
    low = reach - pad
    high = [x.shape[d] - 1 + reach - low - (y.shape[d] - 1) * stride + 0 for d in (2, 3)]
    p.check(convolve(p, [cy, cw], x.grad,
                     f"pad = [[{low}, {high[0]}], [{low}, {high[1]}]], lhs_dilate = [{stride}, {stride}], "
                     f"rhs_dilate = [{dilation}, {dilation}], reverse = [true, true]",
                     numbers="[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]"))
    ends = [reach + (y.shape[d] - 1) * stride + 1 - x.shape[d] - pad for d in (2, 3)]
    p.check(convolve(p, [cx, cy], w.grad,
                     f"stride = [{dilation}, {dilation}], pad = [[{pad}, {ends[0]}], [{pad}, {ends[1]}]], "
                     f"rhs_dilate = [{stride}, {stride}]", numbers="[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]"))


def pool(p):
    """The largest of a window, and its gradient: select_and_scatter."""
    x = torch.randn(1, 2, 6, 8, requires_grad=True)
    y = F.max_pool2d(x, 2, stride=2)
    dy = torch.randn_like(y)
    y.backward(dy)
    cx, cy = p.constant(x.detach()), p.constant(dy)
    zero, least = p.constant(torch.tensor(0.0)), p.constant(torch.tensor(-1e30))
    window = "window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>"
    p.check(p.op(f'"stablehlo.reduce_window"({cx[0]}, {least[0]}) {region(p, "maximum", torch.float32)} {{{window}}}',
                 [cx, least], y.detach()))
    chosen = region(p, "maximum", torch.float32).replace("stablehlo.maximum", "stablehlo.compare GE,").split("\n")
    n = len(p.lines)
    chosen[2] = f"    %c{n} = stablehlo.compare GE, %a{n}, %b{n} : (tensor<f32>, tensor<f32>) -> tensor<i1>"
    chosen[3] = f"    stablehlo.return %c{n} : tensor<i1>"
    both = "\n".join(chosen)[:-1] + ", " + region(p, "add", torch.float32)[1:]
    p.check(p.op(f'"stablehlo.select_and_scatter"({cx[0]}, {cy[0]}, {zero[0]}) {both} {{{window}}}',
                 [cx, cy, zero], x.grad))


def main(trnsim, count, seed):
    agree = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            p = Program(seed * 100_003 + i)
            p.draw.choice([chain, chain, chain, convolution, pool])(p)
            path = pathlib.Path(folder) / f"{i}.mlir"
            path.write_text(p.text())
            ran = subprocess.run([trnsim, "verify", "--reference", path], capture_output=True, text=True)
            agree += ran.returncode == 0
            if ran.returncode != 0:
                kept = pathlib.Path(tempfile.gettempdir()) / f"random_graph_{seed}_{i}.mlir"
                kept.write_text(p.text())
                print(f"{kept}: {ran.stderr.strip().splitlines()[0]}")
    print(f"{agree} of {count} random graphs agree with PyTorch")
    return 0 if agree == count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
