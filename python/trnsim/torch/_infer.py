"""Shapes, strides and types of an operator's results: PyTorch's meta function, and the CPU on zeros where it has
none."""
import torch

from trnsim.torch._values import Unsupported, contiguous, meta_of

ORDERED = ("max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median", "nanmedian", "mode", "kthvalue",
           "quantile", "nanquantile", "cummax", "cummin", "sort", "topk")
MATRICES = ("tril", "triu")
INDICES = ("index", "indices", "target")


def stand_in(item, device):
    if isinstance(item, torch.Tensor):
        meta = getattr(item, "_meta", None) or contiguous(item.shape, item.dtype)
        if device == "meta":
            return meta.tensor()
        return torch.zeros(meta.shape, dtype=meta.dtype)
    if isinstance(item, (list, tuple)):
        return type(item)(stand_in(x, device) for x in item)
    if isinstance(item, torch.device):
        return torch.device(device)
    return item


def asked(func, args, kwargs, device):
    kwargs = {k: stand_in(v, device) for k, v in kwargs.items()}
    if "device" in kwargs or any(a.name == "device" for a in func._schema.arguments):
        kwargs["device"] = torch.device(device)
    return func(*[stand_in(a, device) for a in args], **kwargs)


def made_of_numbers(func, args, kwargs):
    """The result of makers whose type is that of their numbers: PyTorch 1.13's meta functions have one for all."""
    name = func._schema.name
    if name == "aten::arange":
        return from_zeros(func, args, kwargs)
    if name == "aten::full":
        number = kwargs.get("dtype") or torch.full((), args[1]).dtype
        return torch.empty(args[0], dtype=number, device="meta")
    return None


def refused_forms(func, args, kwargs):
    """Raises PyTorch's own error, which its meta functions do not: for an extreme, or a place in an order, of no
    element; for a triangle of fewer than two dimensions; for indices that are no whole numbers; for a convolution whose
    sizes do not fit."""
    name, first = func._schema.name.split("::")[1], args[0] if args else None
    if not isinstance(first, torch.Tensor):
        return
    if name in ORDERED and 0 in first.shape or name in MATRICES and len(first.shape) < 2:
        asked(func, args, kwargs, "cpu")
    if name.startswith(("index_", "nll_loss")) and any(
            argument.name in INDICES and isinstance(item, torch.Tensor) and item.is_floating_point()
            for argument, item in zip(func._schema.arguments, args)):
        asked(func, args, kwargs, "cpu")
    if name == "convolution":  # of no picture: the sizes are checked, and nothing is computed
        sizes = [(0, *first.shape[1:]), *(t.shape for t in args[1:3] if t is not None)]
        func(*[torch.empty(size, dtype=first.dtype) for size in sizes], *[None][:3 - len(sizes)], *args[3:])


def results(func, args, kwargs):
    """(Metas, whether there is one result alone)."""
    with torch.no_grad():
        refused_forms(func, args, kwargs)
        made = made_of_numbers(func, args, kwargs)
        if made is not None:
            return [meta_of(made)], True
        try:
            out = asked(func, args, kwargs, "meta")
        except (NotImplementedError, TypeError, AssertionError, IndexError):  # of meta functions that take less
            out = from_zeros(func, args, kwargs)
    if isinstance(out, torch.Tensor):
        return [meta_of(out)], True
    if not isinstance(out, (list, tuple)):
        raise Unsupported(f"{func} answers {type(out).__name__}, which is not a tensor")
    return [meta_of(t) if isinstance(t, torch.Tensor) else None for t in out], False


def from_zeros(func, args, kwargs):
    try:
        return asked(func, args, kwargs, "cpu")
    except NotImplementedError:
        raise Unsupported(f"{func} has no shapes in PyTorch {torch.__version__}") from None

