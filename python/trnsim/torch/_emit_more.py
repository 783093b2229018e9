"""Operations of StableHLO with long attributes: gather, scatter, windows, convolution, sort, collectives."""
from trnsim.torch._emit import X, array, listed
from trnsim.torch._values import Unsupported

NARROW = ("i8", "ui8", "i16")


def gather(text, a, indices, sizes, collapsed, start_map):
    """Slices of `a` at `indices` [..., len(start_map)]: batch dimensions come first, offsets behind them."""
    batch = indices.shape[:-1]
    kept = [s for d, s in enumerate(sizes) if d not in collapsed]
    offsets = range(len(batch), len(batch) + len(kept))
    out = X(text.fresh(), tuple(batch) + tuple(kept), a.element)
    numbers = f"offset_dims = {listed(offsets)}, collapsed_slice_dims = {listed(collapsed)}, " \
              f"start_index_map = {listed(start_map)}, index_vector_dim = {len(batch)}"
    text.lines.append(
        f'    {out.name} = "stablehlo.gather"({a.name}, {indices.name}) {{dimension_numbers = #stablehlo.gather<'
        f"{numbers}>, slice_sizes = {array(sizes)}, indices_are_sorted = false}} : ({a.type}, {indices.type}) -> "
        f"{out.type}")
    return out


def scatter(text, a, indices, updates, inserted, operation):
    """`a` with `updates` combined at `indices` [..., len(inserted)] of the dimensions `inserted`. Narrow integers are
    added in 32 bits, of which they keep the lowest: DMA would write their largest number."""
    if operation == "add" and a.element in NARROW:
        wide = [text.convert(x, "i32") for x in (a, updates)]
        return text.convert(scatter(text, wide[0], indices, wide[1], inserted, operation), a.element)
    batch = indices.rank - 1
    window = range(batch, updates.rank)
    numbers = f"update_window_dims = {listed(window)}, inserted_window_dims = {listed(sorted(inserted))}, " \
              f"scatter_dims_to_operand_dims = {listed(inserted)}, index_vector_dim = {batch}"
    attributes = f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, indices_are_sorted = false, " \
                 "unique_indices = false"
    body = text.monoid(operation, a.element)
    return text.region([a, indices, updates], body, attributes, [(a.shape, a.element)], "scatter")[0]


def window_attributes(window, strides, padding, dilation=None):
    rows = ", ".join(listed(p) for p in padding)
    text = f"window_dimensions = {array(window)}, window_strides = {array(strides)}, " \
           f"padding = dense<[{rows}]> : tensor<{len(padding)}x2xi64>"
    return text + (f", window_dilations = {array(dilation)}" if dilation else "")


def reduce_window(text, a, operation, initial, geometry):
    """`geometry`: (window, strides, padding pairs, dilation), one entry for each dimension of `a`."""
    window, strides, padding, dilation = geometry
    shape = [(d + p[0] + p[1] - (w - 1) * k - 1) // s + 1
             for d, w, s, p, k in zip(a.shape, window, strides, padding, dilation)]
    start = text.constant(initial, a.element)
    return text.region([a, start], text.monoid(operation, a.element), window_attributes(*geometry),
                       [(shape, a.element)], "reduce_window")[0]


def convolution(text, a, kernel, numbers, window, groups):
    """`numbers`: "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"; `window`: a dict of stride, pad, lhs_dilate, rhs_dilate
    and the shape of the result; `groups`: of features, of the batch. The compiler takes no padding below zero: results
    that it would leave out are computed and cut off."""
    wanted, spatial = list(window["shape"]), window["shape"][2:]
    front, back = ([max(-p[i], 0) for p in window["pad"]] for i in (0, 1))
    if any(f % s for f, s in zip(front, window["stride"])):
        raise Unsupported("a convolution whose padding is below zero and no multiple of its stride")
    if any(front + back):
        front = [f // s for f, s in zip(front, window["stride"])]
        sizes = [n + f + -(-b // s) for n, f, b, s in zip(spatial, front, back, window["stride"])]
        high = [max(p[1], 0) + (-b) % s if b else p[1] for p, b, s in zip(window["pad"], back, window["stride"])]
        window = dict(window, pad=[[max(p[0], 0), h] for p, h in zip(window["pad"], high)],
                      shape=(*wanted[:2], *sizes))
        whole = convolution(text, a, kernel, numbers, window, groups)
        starts = [0, 0, *front]
        return text.slice(whole, starts, [s + n for s, n in zip(starts, wanted)])
    pads = ", ".join(listed(p) for p in window["pad"])
    parts = [f"stride = {listed(window['stride'])}", f"pad = [{pads}]"]
    parts += [f"{name} = {listed(window[name])}" for name in ("lhs_dilate", "rhs_dilate") if name in window]
    return text.line(
        f"stablehlo.convolution({a.name}, {kernel.name}) dim_numbers = {numbers}, window = {{{', '.join(parts)}}} "
        f"{{batch_group_count = {groups[1]} : i64, feature_group_count = {groups[0]} : i64}}",
        window["shape"], a.element, f"{a.type}, {kernel.type}")


def sort(text, keys, values, dim, descending):
    """Both sorted by the keys, stably."""
    a, b, c, d, r = (text.fresh() for _ in range(5))
    k, v = f"tensor<{keys.element}>", f"tensor<{values.element}>"
    kind = ", TOTALORDER" if keys.element in ("f64", "f32", "bf16", "f16") else ""
    body = [f"^bb0({a}: {k}, {b}: {k}, {c}: {v}, {d}: {v}):",
            f"{r} = stablehlo.compare {'GT' if descending else 'LT'}, {a}, {b}{kind} : ({k}, {k}) -> tensor<i1>",
            f"stablehlo.return {r} : tensor<i1>"]
    return text.region([keys, values], body, f"dimension = {dim} : i64, is_stable = true",
                       [(keys.shape, keys.element), (values.shape, values.element)], "sort")


def groups_text(groups):
    rows = ", ".join(listed(g) for g in groups)
    return f"replica_groups = dense<[{rows}]> : tensor<{len(groups)}x{len(groups[0])}xi64>"


def all_reduce(text, a, operation, groups):
    text.collectives += 1
    return text.region([a], text.monoid(operation, a.element), groups_text(groups), [(a.shape, a.element)],
                       "all_reduce")[0]


def collective(text, op, a, shape, attributes):
    """all_gather, all_to_all, collective_permute: no region."""
    text.collectives += 1
    return text.line(f'"stablehlo.{op}"({a.name}) {{{attributes}}}', shape, a.element, a.type)
