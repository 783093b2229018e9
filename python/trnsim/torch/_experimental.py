"""torch_xla.experimental: eager mode, scans over layers and over data."""
import sys

import torch
from torch.utils import _pytree

EAGER = [False]


def eager_mode(enable):
    """Without effect on numbers: operators are computed when they are needed, and a compiled function has graphs of its
    own anyway. Their launches, one for each operator in torch_xla, are missing in the time, which is said once."""
    if enable and not EAGER[0]:
        print("warning: eager mode: operators outside of compiled functions are recorded and launched together here, "
              "not one by one", file=sys.stderr)
    EAGER[0] = bool(enable)


def is_eager_mode():
    return EAGER[0]


def scan(fn, init, xs, partition_fn=None, is_fn_pure=False):
    """fn(carry, x) -> (carry, y) along the first axis of all tensors in `xs`: (the last carry, the ys one behind the
    other). The chip's compiler unrolls such loops, and so it is recorded. Errors: ValueError without a step, for axes
    of different sizes; RuntimeError for a carry that changes its form."""
    leaves, form = _pytree.tree_flatten(xs)
    sizes = {leaf.shape[0] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.ndim}
    if len(sizes) != 1 or 0 in sizes or any(not leaf.ndim for leaf in leaves):
        raise ValueError(f"scan: tensors of xs have first axes of {sorted(sizes)}: give all the same, of one or more")
    carry, ys, y_form = owned(init), [], None
    shape = form_of(init)
    for i in range(sizes.pop()):
        carry, y = fn(carry, _pytree.tree_unflatten([leaf[i].clone() for leaf in leaves], form))
        if form_of(carry) != shape:
            raise RuntimeError(f"scan: the carry begins as {shape} and becomes {form_of(carry)}: return the same form")
        y_leaves, y_form = _pytree.tree_flatten(owned(y))
        ys.append(y_leaves)
    return carry, _pytree.tree_unflatten([torch.stack(column) for column in zip(*ys)], y_form)


def owned(tree):
    """Copies of its tensors: torch_xla traces a step on tensors of its own, so it may write to its arguments."""
    leaves, form = _pytree.tree_flatten(tree)
    return _pytree.tree_unflatten([leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], form)


def form_of(tree):
    """Shapes and types of a carry's tensors."""
    return [(tuple(leaf.shape), leaf.dtype) for leaf in _pytree.tree_flatten(tree)[0]]


def scan_layers(layers, input_data, partition_fn=None, is_layer_pure=False):
    """Layers of one form, one behind the other. Errors: ValueError for layers of different forms."""
    layers = list(layers)
    forms = [[(name, tuple(p.shape), p.dtype) for name, p in layer.named_parameters()] for layer in layers]
    odd = next((i for i, form in enumerate(forms) if form != forms[0]), None)
    if odd is not None:
        raise ValueError(f"scan_layers: layer {odd} has other parameters than the first: give layers of one form")
    for layer in layers:
        input_data = layer(input_data)
    return input_data


def slices_of(tensors):
    """How many the first axis of all has. Errors: ValueError for none, and for axes of different sizes."""
    if not tensors:
        raise ValueError("gradient_accumulation: iterable_tensors cannot be empty")
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor) or not tensor.numel():
            raise ValueError(f"gradient_accumulation: element {i} of iterable_tensors is no tensor, or an empty one")
    sizes = [t.shape[0] for t in tensors]
    if len(set(sizes)) > 1:
        raise ValueError(f"gradient_accumulation: first axes of {sizes}: give all the same")
    return sizes[0]


def gradient_accumulation(train_step, iterable_tensors, model, carried_tensors=None):
    """train_step(*slices, *carried) -> loss, or (loss, *carried), for each place of the first axis of all tensors, each
    with its share of the loss: (the mean loss, *the last carried ones); gradients are added to those of the model.
    Each step is differentiated by itself, so none goes back through a carried tensor."""
    count = slices_of(iterable_tensors)
    total, carried = 0.0, list(owned(tuple(carried_tensors or ())))
    wanted = [t.requires_grad for t in carried_tensors or ()]
    for i in range(count):
        given = [t.detach().requires_grad_(grad) for t, grad in zip(carried, wanted)]
        result = train_step(*(t[i].clone() for t in iterable_tensors), *given)
        loss, *carried = result if isinstance(result, tuple) else (result, *given)
        if len(carried) != len(wanted):
            raise ValueError(f"gradient_accumulation: train_step() returns {len(carried)} tensors beside the loss, and "
                             f"{len(wanted)} are carried: return each carried one")
        loss = loss / count
        loss.backward()
        total = total + loss.detach()
    return (total, *carried)


def assume_pure(fn):
    """The function itself: torch_xla records it once for all calls, which saves the host's time only."""
    return fn


def assume_pure_torch(func=None, use_cache=False):
    """As assume_pure(), also as a decorator with options. Errors: AssertionError where gradients are recorded."""
    assert not torch.is_grad_enabled(), "assume_pure_torch: it has no gradients: use it within torch.no_grad()"
    if isinstance(func, bool):  # a release without `func` has the other in its place
        func = None
    return assume_pure if func is None else func


def tables(compiled):
    """{module below torch_xla: its names}; `compiled`: torch_xla.compile()."""
    return {"experimental": dict(eager_mode=eager_mode, is_eager_mode=is_eager_mode, compile=compiled),
            "experimental.assume_pure": dict(assume_pure=assume_pure, assume_pure_torch=assume_pure_torch),
            "experimental.gradient_accumulation": dict(gradient_accumulation=gradient_accumulation),
            "experimental.scan": dict(scan=scan), "experimental.scan_layers": dict(scan_layers=scan_layers)}
