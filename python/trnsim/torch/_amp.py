"""Autocast for the device, above autograd: operators of two lists have their arguments cast. GradScaler, which does
nothing. The lists are those of PyTorch's autocast, as torch_xla has them."""
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from trnsim.torch import _modes
from trnsim.torch._tensor import DeviceTensor

LOWER = ("matmul", "mm", "bmm", "mv", "addmm", "addmv", "addbmm", "baddbmm", "linear", "conv1d", "conv2d", "conv3d",
         "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "einsum", "chain_matmul", "addr",
         "multi_head_attention_forward", "scaled_dot_product_attention", "prelu", "__matmul__", "lstm_cell",
         "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "bilinear", "lstm", "gru", "rnn_tanh", "rnn_relu")
FULL = ("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt",
        "sinh", "tan", "pow", "softplus", "layer_norm", "native_layer_norm", "group_norm", "norm", "nuclear_norm",
        "cosine_similarity", "poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "hinge_embedding_loss",
        "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss",
        "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
        "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp", "softmax",
        "log_softmax", "cross_entropy", "cumprod", "cumsum", "prod", "sum", "batch_norm", "__rpow__", "__pow__")
WIDEST = ("cat", "stack", "addcdiv", "addcmul", "atan2", "cross", "dot", "index_put", "tensordot", "scatter_add")
STATE = []  # dtypes of the autocasts around


def functions(names):
    places = (torch, F, torch.Tensor, torch._C._nn, torch.special)
    return {getattr(place, name) for name in names for place in places if hasattr(place, name)}


KINDS = {}


def kind_of(func):
    if not KINDS:
        for names, kind in ((LOWER, "lower"), (FULL, "full"), (WIDEST, "widest")):
            KINDS.update({f: kind for f in functions(names)})
    return KINDS.get(func)


def cast(item, dtype):
    if isinstance(item, torch.Tensor):
        floating = item.dtype in (torch.float32, torch.bfloat16, torch.float16) and isinstance(item, DeviceTensor)
        return item.to(dtype) if floating and item.dtype is not dtype else item
    if type(item) in (list, tuple):
        return type(item)(cast(x, dtype) for x in item)
    return item


def arguments(func, args, kwargs):
    """Cast, where an autocast is around and the operator is on a list."""
    kind = kind_of(func)
    if kind is None or not STATE or STATE[-1] is None:
        return args, kwargs
    dtype = STATE[-1] if kind == "lower" else torch.float32
    if kind == "widest":
        found = set()
        cast_types(args, found)
        if len(found) < 2:
            return args, kwargs
    return cast(args, dtype), {name: cast(item, dtype) for name, item in kwargs.items()}


def cast_types(item, found):
    if isinstance(item, torch.Tensor):
        if item.dtype.is_floating_point:
            found.add(item.dtype)
    elif isinstance(item, (list, tuple)):
        for x in item:
            cast_types(x, found)


class Casts(TorchFunctionMode):
    """Casts the arguments of every call, above autograd."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        args, kwargs = arguments(func, args, kwargs or {})
        return func(*args, **kwargs)


class Autocast(torch.autocast):
    """torch.autocast, which knows the device."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        self.ours = _modes.named(str(device_type))
        self.lower = (dtype or torch.bfloat16) if enabled else None
        if self.ours and self.lower not in (None, torch.bfloat16, torch.float16):
            raise RuntimeError(f"autocast to {dtype}: torch.bfloat16 and torch.float16 are supported")
        if not self.ours:
            super().__init__(device_type, dtype, enabled, cache_enabled)

    def __enter__(self):
        if not self.ours:
            return super().__enter__()
        STATE.append(self.lower)
        self.casts = Casts()
        self.casts.__enter__()
        return self

    def __exit__(self, *error):
        if not self.ours:
            return super().__exit__(*error)
        self.casts.__exit__(*error)
        STATE.pop()
        return False

    def __call__(self, function):
        if not self.ours:
            return super().__call__(function)

        def called(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return called


class XlaAutocast(Autocast):
    """torch_xla.amp.autocast(device, ...)."""

    def __init__(self, device="xla", enabled=True, dtype=None, cache_enabled=True):
        super().__init__("xla", dtype, enabled)


class CudaAutocast(Autocast):
    """torch.cuda.amp.autocast(), where "cuda" is the device."""

    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("xla", dtype, enabled)


class GradScaler(torch.cuda.amp.GradScaler):
    """Does nothing: the device's 16-bit format has fp32's range."""

    def __init__(self, *_, **__):
        super().__init__(enabled=False)


def install():
    torch.autocast = Autocast
    torch.amp.autocast = torch.amp.autocast_mode.autocast = Autocast
    torch.cuda.amp.GradScaler = GradScaler
    torch.amp.GradScaler = GradScaler  # PyTorch 2.3's name
