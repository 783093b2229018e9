"""Operators whose recording needs more than their schema: copies from and to the host, values that the script reads,
random numbers, results whose shape depends on values, running statistics."""
import torch

from trnsim.torch import _infer, _writes
from trnsim.torch._engine import engine
from trnsim.torch._tensor import DeviceTensor, from_host, new_tensor
from trnsim.torch._values import HOOKS, Slot, Unsupported, Value, contiguous
from trnsim.torch._views import current, made, write

aten = torch.ops.aten
HOST = {"nonzero", "masked_select", "_unique", "_unique2", "unique_dim", "unique_consecutive", "equal", "bincount",
        "repeat_interleave", "multinomial", "poisson", "histc", "linalg_eigvals"}
FACTORIES = {"empty", "empty_strided", "zeros", "ones", "full", "arange", "scalar_tensor", "eye", "new_empty",
             "new_zeros", "new_ones", "new_full", "new_empty_strided", "_efficientzerotensor"}
ALIASES = {"lift", "lift_fresh", "_conj", "alias", "detach", "resolve_conj", "resolve_neg"}


def on_host(item):
    """Arguments with tensors of the CPU in the place of ours."""
    if isinstance(item, DeviceTensor):
        return engine().download(item)
    if isinstance(item, (list, tuple)):
        return type(item)(on_host(x) for x in item)
    if isinstance(item, torch.device):
        return torch.device("cpu")
    return item


def on_device(item):
    if isinstance(item, torch.Tensor):
        return from_host(item)
    return type(item)(on_device(x) for x in item) if isinstance(item, (list, tuple)) else item


class Answered:
    """In the place of a call, where the host has computed it."""

    def __init__(self, single):
        self.single = single


def host(func, args, kwargs):
    """Computed by the host, as torch_xla does where a compiler cannot: shapes depend on values."""
    targets = outputs(func, kwargs)
    with engine().left_to_host(func._schema.name):
        kwargs = {k: targets[k].made if k in targets else on_host(v) for k, v in kwargs.items()}
        return given_to(targets, func(*on_host(args), **kwargs))


class Output:
    """A tensor of the device that out= names, and one of the host, into which the operator writes in its place."""

    def __init__(self, tensor):
        self.tensor, meta = tensor, tensor._meta
        self.made = torch.empty_strided(meta.shape, meta.stride, dtype=meta.dtype)


def outputs(func, kwargs):
    written = [a.name for a in func._schema.arguments if a.kwarg_only and a.alias_info is not None]
    return {name: Output(kwargs[name]) for name in written if isinstance(kwargs.get(name), DeviceTensor)}


def given_to(targets, results):
    """The results on the device, or in the tensors that out= names, which get their shape."""
    if not targets:
        return on_device(results)
    for output in targets.values():
        become(output.tensor, from_host(output.made))
    found = tuple(output.tensor for output in targets.values())
    return found if isinstance(results, tuple) else found[0]


def become(target, new):
    """As out=: of another shape, the tensor is another one."""
    if new._meta.shape == target._meta.shape:
        HOOKS["assign"](target, current(new))
    else:
        target.data = new
    return target


def answered(func, args, kwargs):
    """Operators whose answers are no tensors: of shapes alone, by PyTorch's meta tensors; of values, by the host."""
    if func._schema.name.split("::")[1] == "is_same_size":
        return args[0].shape == args[1].shape
    return func(*on_host(args), **{k: on_host(v) for k, v in kwargs.items()})


def each(func, args, kwargs):
    """_foreach_...: the operator of one tensor, on each of the lists' elements."""
    schema = func._schema
    name = schema.name.split("::")[1][len("_foreach_"):]
    single = aten.linalg_vector_norm if name == "norm" else getattr(aten, name, None)
    if single is None:  # maximum_ and minimum_ are there for lists alone
        for target, new in zip(args[0], getattr(aten, f"_foreach_{name[:-1]}")(*args, **kwargs)):
            target.copy_(new)
        return None
    listed = [str(a.type).startswith("List") for a in schema.arguments]
    named = {"value": args[3]} if name.startswith(("addcmul", "addcdiv")) and len(args) > 3 else {}
    plain, outs = args[:3] if named else args, []
    for i in range(len(args[0])):
        value = {k: v[i] if isinstance(v, (list, tuple)) else v for k, v in named.items()}
        outs.append(single(*[a[i] if is_list else a for a, is_list in zip(plain, listed)], **value, **kwargs))
    return None if name.endswith("_") else outs


def fused_adam(func, args, kwargs):
    """Adam's and AdamW's step of lists of tensors in one call, by its arithmetic."""
    one, two, rate, decay = (kwargs[name] for name in ("beta1", "beta2", "lr", "weight_decay"))
    if kwargs.get("grad_scale") is not None or kwargs.get("found_inf") is not None:
        raise Unsupported(f"{func} with scaled gradients: leave out fused=True, or the scaler")
    for i, (parameter, grad, mean, square) in enumerate(zip(*args[:4])):
        grad, step = -grad if kwargs["maximize"] else grad, args[5][i]
        if func._schema.name.endswith("adamw_"):
            parameter.mul_(1 - rate * decay)
        elif decay:
            grad = grad.add(parameter, alpha=decay)
        mean.mul_(one).add_(grad, alpha=1 - one)
        square.mul_(two).addcmul_(grad, grad, value=1 - two)
        if kwargs["amsgrad"]:
            args[4][i].copy_(torch.maximum(args[4][i], square))
            square = args[4][i]
        below = square.sqrt() / (1 - two ** step).sqrt() + kwargs["eps"]
        parameter.sub_(mean / (1 - one ** step) * rate / below)


def packed(func, args, kwargs):
    """_pack_padded_sequence: the sizes of the batches stay on the host."""
    with engine().left_to_host(func._schema.name):
        data, sizes = func(*on_host(args), **kwargs)
    return from_host(data), sizes


def noisy(func, args, kwargs):
    """rrelu_with_noise: the slopes that it draws are written to its second argument; the schema does not say so."""
    with engine().left_to_host(func._schema.name):
        given = [on_host(a) for a in args]
    given[1] = given[1].clone()
    out = func(*given, **kwargs)
    args[1].copy_(from_host(given[1]))
    return from_host(out)


def item(func, args, kwargs):
    return engine().download(args[0]).item()


def to_copy(func, args, kwargs):
    tensor, device = args[0], kwargs.get("device")
    dtype = kwargs.get("dtype") or tensor.dtype
    if not isinstance(tensor, DeviceTensor):
        return from_host(tensor.to(dtype))
    if device is not None and device.type != "meta":
        return engine().download(tensor).to(dtype)
    form = {"memory_format": kwargs["memory_format"]} if kwargs.get("memory_format") is not None else {}
    return HOOKS["functional"](func, args, {"dtype": dtype, **form})


def copy_(func, args, kwargs):
    """To the device, from it, or on it."""
    target, source = args[0], args[1]
    if not isinstance(target, DeviceTensor):
        return target.copy_(engine().download(source))
    if not isinstance(source, DeviceTensor):
        source = from_host(source.detach().to(target.dtype).expand(target._meta.shape).contiguous())
    HOOKS["assign"](target, current(source))
    return target


FILLED = {}  # parameters by number and type: equal ones of a graph are one


def changes(number):
    """Whether a number is a parameter of the program. Not those that hide scores: they stay the same, and rewrites of
    attention know them."""
    return type(number) in (int, float) and number not in (0, 1) and (type(number) is int or abs(number) < 1e4)


def of_number(number, meta):
    """A tensor that is filled with a number of the script."""
    value = FILLED.get((number, meta.dtype))
    if value is None:
        value = FILLED[number, meta.dtype] = Value(contiguous((), meta.dtype), host=number)
    whole = contiguous(meta.shape, meta.dtype)
    return new_tensor(made(aten.expand.default, [value], [Slot(0), list(meta.shape)], whole))


def full(func, args, kwargs):
    number = kwargs.get("fill_value", args[-1])
    here = "device" in kwargs or any(isinstance(a, DeviceTensor) for a in args)
    if "out" in kwargs or not here or not changes(number):
        return factory(func, args, kwargs)
    metas, _ = _infer.results(func, args, kwargs)
    return of_number(number, metas[0])


def fill_(func, args, kwargs):
    target, number = args[:2] if len(args) > 1 else (args[0], kwargs["value"])
    if not isinstance(target, DeviceTensor) or not changes(number):
        return HOOKS["writing"](func, args, kwargs)
    HOOKS["assign"](target, current(of_number(number, target._meta)))
    return target


def power(func, args, kwargs):
    """Small whole exponents are products."""
    if kwargs:
        return HOOKS["writing"](func, args, kwargs)
    base, exponent = args
    if changes(exponent) and exponent not in (2, 3) and isinstance(base, DeviceTensor) and base.is_floating_point():
        return HOOKS["functional"](aten.pow.Tensor_Tensor, (base, of_number(exponent, base._meta)), {})
    return HOOKS["functional"](func, args, kwargs)


def masked_fill(func, args, kwargs):
    target, mask, number = args if len(args) == 3 else (*args, kwargs["value"])
    in_place = func._schema.name.endswith("_")
    if not changes(number) or not isinstance(target, DeviceTensor) or \
            type(number) is float and not target.is_floating_point():
        return HOOKS["writing" if in_place else "functional"](func, args, kwargs)
    value = of_number(number, contiguous((), target.dtype))
    out = HOOKS["functional"](aten.masked_fill.Tensor, (target, mask, value), {})
    if not in_place:
        return out
    HOOKS["assign"](target, current(out))
    return target


def factory(func, args, kwargs):
    target = kwargs.get("out")
    if isinstance(target, DeviceTensor):  # as eye(n, out=x)
        overload = func._overloadname[:-len("_out")] if func._overloadname.endswith("_out") else "default"
        packet = getattr(aten, func._schema.name.split("::")[1])
        plain = getattr(packet, "start_step" if overload == "start" and len(args) == 3 else overload)
        given = {"device": torch.device("meta"), "dtype": target.dtype}
        return become(target, HOOKS["functional"](plain, args, given))
    if not any(isinstance(a, DeviceTensor) for a in args) and "device" not in kwargs:
        return func(*args, **kwargs)
    return HOOKS["functional"](func, args, kwargs)


def host_factory(func, args, kwargs):
    """Random numbers are PyTorch's own, of its CPU generator: a seed gives the numbers that it gives there."""
    targets = outputs(func, kwargs)
    if targets:
        return given_to(targets, func(*args, **{**kwargs, **{name: output.made for name, output in targets.items()}}))
    return from_host(func(*args, **dict(kwargs, device=torch.device("cpu"))))


def random_like(func, args, kwargs):
    like = torch.empty(args[0]._meta.shape, dtype=args[0]._meta.dtype)
    kwargs = {k: v for k, v in kwargs.items() if k not in ("device", "layout", "pin_memory")}
    return from_host(func(like, *args[1:], **kwargs))


def random_in_place(func, args, kwargs):
    """The tensor's own numbers are not read."""
    target = args[0]
    if not isinstance(target, DeviceTensor) or any(isinstance(a, DeviceTensor) for a in args[1:]):
        raise Unsupported(f"{func} with probabilities on the device: draw them on the CPU and move them")
    meta = target._meta
    drawn = func(torch.empty_strided(meta.shape, meta.stride, dtype=meta.dtype), *args[1:], **kwargs).contiguous()
    write(target, Value(contiguous(drawn.shape, drawn.dtype), buffer=engine().upload(drawn)))
    return target


def native_dropout(func, args, kwargs):
    tensor, p, train = args
    if train is False or p == 0:
        return tensor.clone(), torch.ones_like(tensor, dtype=torch.bool)
    kept = from_host(torch.empty(tensor._meta.shape).bernoulli_(1 - p))
    return tensor * kept.to(tensor.dtype) * (1 / (1 - p) if p < 1 else 0.0), kept.to(torch.bool)


def scaled(tensor, weight, bias, mean, variance, eps):
    """A batch norm by running statistics as a factor and a summand of each channel, as PyTorch's kernel computes it."""
    shape = [1, -1] + [1] * (len(tensor._meta.shape) - 2)
    factor = torch.rsqrt(variance + eps)
    factor = factor if weight is None else factor * weight
    summand = -mean * factor
    summand = summand if bias is None else summand + bias
    out = tensor * factor.reshape(shape) + summand.reshape(shape)
    return out.to(tensor.dtype), mean.new_empty((0,)), mean.new_empty((0,))


def batch_norm(func, args, kwargs):
    """Running statistics are written here; the schema does not say so."""
    functional = HOOKS["functional"]
    tensor, weight, bias, mean, variance, training, momentum, eps = args
    if not training and mean is not None and engine().compiles_ahead:
        return scaled(tensor, weight, bias, mean, variance, eps)
    if not training or mean is None:
        return functional(func, args, kwargs)
    with torch.no_grad():
        out = functional(func, (tensor, weight, bias, None, None, True, 0.0, eps), kwargs)
        dims = [d for d in range(len(tensor._meta.shape)) if d != 1]
        mean.mul_(1 - momentum).add_(out[1], alpha=momentum)
        variance.mul_(1 - momentum).add_(torch.var(tensor, dims, unbiased=True), alpha=momentum)
    return out


def index(func, args, kwargs):
    """Truth values as indices: their positions, which the host finds; one number written by a mask is chosen."""
    places = args[1]
    masks = [p for p in places if p is not None and p.dtype in (torch.bool, torch.uint8)]
    writes = func._schema.name.endswith("_")
    if masks and len(args) > 2 and len(places) == 1 and args[2].numel() == 1 and not (args[3:] or [False])[0]:
        mask = masks[0]
        wide = mask.reshape(tuple(mask.shape) + (1,) * (args[0].dim() - mask.dim()))
        out = torch.where(wide, args[2].reshape(()).to(args[0].dtype), args[0])
        return args[0].copy_(out) if writes else out
    found = []
    for place in places:
        if place is not None and place.dtype in (torch.bool, torch.uint8):
            with engine().left_to_host("aten::nonzero"):
                found += [from_host(p) for p in torch.nonzero(engine().download(place), as_tuple=True)]
        else:
            found.append(place if place is None or isinstance(place, DeviceTensor) else from_host(place))
    args = (args[0], found) + tuple(args[2:])
    return HOOKS["writing" if writes else "functional"](func, args, kwargs)


NAMED = {"full": full, "new_full": full, "full_like": full, "scalar_tensor": full, "fill_": fill_, "pow": power,
         "masked_fill": masked_fill, "masked_fill_": masked_fill,
         "_local_scalar_dense": item, "_to_copy": to_copy, "copy_": copy_, "native_dropout": native_dropout,
         "native_batch_norm": batch_norm, "index": index, "index_put": index, "index_put_": index,
         "_index_put_impl_": index, "_pack_padded_sequence": packed,
         "_fused_adam_": fused_adam, "_fused_adamw_": fused_adam, "rrelu_with_noise": noisy,
         **_writes.NAMED}


def handler(func):
    name = func._schema.name.split("::")[1]
    if name in NAMED:
        return NAMED[name]
    if name in HOST:
        return host
    if name in FACTORIES:
        return factory
    if name.startswith("_foreach_"):
        return each
    if not any("Tensor" in str(r.type) for r in func._schema.returns) and not writes(func):
        return answered
    random = torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()) or name in RANDOM
    if not random:
        return host_factory if takes_device(func) and not takes_tensor(func) else None
    if name.endswith("_") and not name.endswith("__"):
        return random_in_place
    if takes_tensor(func):
        return random_like if name.endswith("_like") else host
    return host_factory


RANDOM = {"bernoulli_", "uniform_", "normal_", "exponential_", "random_", "geometric_", "cauchy_", "log_normal_",
          "rand", "randn", "randint", "randperm", "normal", "bernoulli", "rand_like", "randn_like", "randint_like"}


def writes(func):
    return any(a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments)


def takes_device(func):
    return any(a.name == "device" for a in func._schema.arguments)


def takes_tensor(func):
    return any("Tensor" in str(a.type) for a in func._schema.arguments)

