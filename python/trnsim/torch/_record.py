"""Operators become nodes. An operator's schema says how it treats its arguments: views share a storage, writes
make a new value of it, and everything else has results of its own. Shapes and types are PyTorch's meta functions',
asked once for each combination of arguments."""
import torch

from trnsim.torch import _infer, _lower, _special
from trnsim.torch._engine import engine
from trnsim.torch._environment import settled
from trnsim.torch._tensor import DeviceTensor, from_host, host_argument, is_there, new_tensor, view_of, wrapped
from trnsim.torch._values import HOOKS, Call, Meta, Node, Slot, Unsupported, Value, element_of
from trnsim.torch._views import current, step_into, steps_of, write

aten = torch.ops.aten
CALLS, FUNCTIONAL, OPERATORS = [], {}, []  # OPERATORS: each with its calls by the type that floats had by default
# Numbers of these are parameters of the program, as torch_xla has them: learning rates change.
SCALED = {"add", "sub", "rsub", "mul", "div", "addcmul", "addcdiv", "lerp", "add_", "sub_", "mul_", "div_", "addcmul_",
          "addcdiv_", "lerp_", "eq", "ne", "lt", "le", "gt", "ge", "clamp", "clamp_min", "clamp_max",
          "fmod", "remainder", "baddbmm"}
# One operand of these may be on the host: torch_xla uploads it. Others take only numbers and indices from there.
MIXED = {"add", "sub", "rsub", "mul", "div"}
CONSTANTS, INTEGERS, DOUBLES = (0, 1), {int}, torch.float64
PLACES = {"device", "pin_memory", "layout"}  # arguments that name where a tensor is; its memory_format gives strides
FORMS = PLACES | {"memory_format"}  # those that no value depends on
MOST_NUMBERS, KEPT_NUMBERS = 1 << 16, 256  # of each kind: in a graph, and from one to the next
# By kind and number; equal ones are one parameter, as in torch_xla's cache of data. WIDE: doubles.
NUMBERS = {float: ({}, Meta((), (), torch.float32)), int: ({}, Meta((), (), torch.int64))}
WIDE = ({}, Meta((), (), DOUBLES))


class Known:
    """An operator: the function that records it, whether its numbers are parameters, whether one of its operands may be
    on the host, its calls so far by their arguments, how it writes. `way`: that function's number where the compiled
    recorder knows it, else 0."""
    __slots__ = ("handle", "scaled", "mixed", "calls", "writing", "way")

    def __init__(self, func):
        self.mixed = name_of(func) in MIXED
        self.scaled, self.calls, self.writing, self.handle = name_of(func) in SCALED, {}, None, classify(func)
        if self.handle is writing:
            self.writing = Writing(func)
            self.handle = writing_first if self.writing.first else writing
        self.way = WAYS.index(self.handle) if self.handle in WAYS else 0
        OPERATORS.append((self, {torch.get_default_dtype(): self.calls}))


def known(func):
    """Kept at the operator itself: PyTorch's own hash of one costs as much as a record."""
    try:
        return func.trnsim_known
    except AttributeError:
        func.trnsim_known = found = Known(func)
        return found


def name_of(func):
    return func._schema.name.split("::")[1]


def read(args, kwargs, scaled):
    """Tensors among the arguments, in order, and a key of everything else: a tensor is its meta's number in it, and all
    else its type and its value."""
    values, key = [], []
    for item in args:
        kind = type(item)
        if kind is DeviceTensor:
            key.append(item._meta.key)
            values.append(current(item) if item._chain else item._base_storage.value)
        else:
            read_one(item, values, key, scaled)
    if kwargs:
        for name, item in kwargs.items():
            if name not in PLACES:
                key.append(name)
                read_one(item, values, key, scaled)
    return values, tuple(key)


def add_number(item, kind, values, key):
    """A number that is a parameter of the program, beside doubles a double."""
    known, meta = NUMBERS[kind]
    for value in values:
        if value.meta.dtype is DOUBLES and kind is float:
            known, meta = WIDE
    found = known.get(item)
    if found is None:
        if len(known) >= MOST_NUMBERS:
            known.clear()
        found = known[item] = Value(meta, host=item)
    values.append(found)
    key.append(meta)


def forget_numbers():
    """Where a graph ends: an optimizer's corrections are other numbers in each step and never come back."""
    for known in (NUMBERS[float][0], NUMBERS[int][0], WIDE[0], _special.FILLED):
        if len(known) > KEPT_NUMBERS:
            known.clear()


def read_one(item, values, key, scaled):
    kind = type(item)
    if kind is DeviceTensor:
        key.append(item._meta.key)
        values.append(current(item))
        return
    if kind in NUMBERS:
        if scaled and item not in CONSTANTS:
            return add_number(item, kind, values, key)
        if kind is float and not (item and item == item):  # 0.0 and -0.0 are equal, NaN and itself are not
            item = repr(item)
    elif kind is list or kind is tuple:
        key += (kind, len(item))
        if not scaled and set(map(type, item)) == INTEGERS:
            key += item
        else:
            for inner in item:
                read_one(inner, values, key, scaled)
        return
    elif isinstance(item, torch.Tensor):
        values.append(current(host_argument(item)))
        key.append(values[-1].meta.key)
        return
    key += (kind, repr(item) if kind is slice else item)


def template_of(item, counter, scaled):
    if isinstance(item, torch.Tensor):
        counter[0] += 1
        return Slot(counter[0] - 1)
    if type(item) in (list, tuple):
        return type(item)(template_of(x, counter, scaled) for x in item)
    if scaled and type(item) in (float, int) and item not in CONSTANTS:
        counter[0] += 1
        return Slot(counter[0] - 1)
    return item


def new_call(func, args, kwargs, values, scaled):
    counter = [0]
    names = {k: v for k, v in kwargs.items() if k not in FORMS}
    call = Call(func, template_of(list(args), counter, scaled),
                {k: template_of(v, counter, scaled) for k, v in names.items()}, [v.meta for v in values])
    settled()
    if not _lower.known(func):
        call.kind = "host"
        return call
    call.outs, call.single = _infer.results(func, args, kwargs)
    for meta in call.outs:
        if meta is not None:
            element_of(meta.dtype)
    return call


def call_of(func, args, kwargs):
    """The call, and the values of its tensors."""
    try:
        operator = func.trnsim_known
    except AttributeError:
        operator = known(func)
    if operator.mixed and not all(map(is_there, args)):
        args = [a if is_there(a) else from_host(a) for a in args]
    values, key = read(args, kwargs, operator.scaled)
    call = operator.calls.get(key)
    if call is None:
        call = operator.calls[key] = new_call(func, args, kwargs, values, operator.scaled)
        CALLS.append(call)
    return call, values


SAME = {aten.detach.default, aten.alias.default}


def record(func, args, kwargs):
    """Values of the results."""
    call, values = call_of(func, args, kwargs)
    if call.kind != "device" and _lower.left_to_host(call):
        out = _special.host(func, args, kwargs)
        single = isinstance(out, DeviceTensor)
        return _special.Answered(single), [current(t) for t in ([out] if single else out)]
    node = Node(call, values)
    return call, [Value(meta, node, i) for i, meta in enumerate(call.outs)]


def functional(func, args, kwargs):
    call, values = call_of(func, args, kwargs)
    if call.kind != "device" and _lower.left_to_host(call):
        return _special.host(func, args, kwargs)
    node = Node(call, values)
    if call.single:
        return new_tensor(Value(call.outs[0], node, 0))
    return tuple([None if meta is None else new_tensor(Value(meta, node, i)) for i, meta in enumerate(call.outs)])


def tensor_list(func, args, kwargs):
    return list(functional(func, args, kwargs))


def memory_of(tensor):
    """All of a tensor's memory, with its dimensions in the order of their elements."""
    storage = tensor._base_storage
    whole = wrapped(storage, (), storage.meta)
    order = sorted(range(len(storage.meta.shape)), key=lambda d: -storage.meta.stride[d])
    step = 1
    for d in reversed(order):
        if storage.meta.shape[d] != 1 and storage.meta.stride[d] != step:
            raise Unsupported("as_strided of a tensor with gaps in its memory: give it memory of its own with .clone()")
        step *= max(storage.meta.shape[d], 1)
    return whole if order == sorted(order) else whole.permute(order)


def same(func, args, kwargs):
    """Another tensor of the same memory."""
    base = args[0]
    if not isinstance(base, DeviceTensor):
        return func(*args, **kwargs)
    return view_of(base, base._chain, base._meta)


def strided(func, args, kwargs):
    base = args[0]
    if not isinstance(base, DeviceTensor):
        return func(*args, **kwargs)
    offset = base._meta.offset if len(args) < 4 or args[3] is None else args[3]
    return view(func, (memory_of(base), *args[1:3], offset), kwargs)


def view(func, args, kwargs):
    base = args[0]
    if not isinstance(base, DeviceTensor):
        return func(*args, **kwargs)
    call, _ = call_of(func, args, kwargs)
    if not call.outs:
        for meta in _infer.results(func, args, kwargs)[0]:
            element_of(meta.dtype)  # says so, if it is complex
        raise Unsupported(f"{func} is not supported: no operator here views memory in this way")
    steps = steps_of(call)
    return step_into(base, steps[0]) if call.single else [step_into(base, step) for step in steps]


def without_write(func):
    """The operator that computes what `func` writes; None: there is none."""
    if func not in FUNCTIONAL:
        name, overload = func._schema.name.split("::")[1], func._overloadname
        packet = getattr(aten, name[:-1] if name.endswith("_") and not name.endswith("__") else name, None)
        wanted = [overload] if name.endswith("_") else []
        writes = [a for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        plain = len(func._schema.arguments) - (0 if name.endswith("_") else len(writes))
        for other in wanted + list(packet.overloads() if packet is not None else []):
            other = getattr(packet, other, None)
            if other is not None and matches(other, func, plain):
                FUNCTIONAL[func] = other
                break
        else:
            FUNCTIONAL[func] = None
    return FUNCTIONAL[func]


def matches(other, func, plain):
    """Whether `other` takes the first `plain` arguments of `func`, and writes to none."""
    ours = [(a.name, str(a.type)) for a in func._schema.arguments[:plain]]
    theirs = [(a.name, str(a.type)) for a in other._schema.arguments]
    return ours == theirs and not any(a.alias_info is not None and a.alias_info.is_write
                                      for a in other._schema.arguments)


class Writing:
    """The arguments that an operator writes to, and the operator that computes it without; read of the schemas once."""
    __slots__ = ("plain", "known", "targets", "names", "count", "first", "resizes")

    def __init__(self, func):
        self.plain = without_write(func)
        self.targets = [(i, a.name) for i, a in enumerate(func._schema.arguments)
                        if a.alias_info is not None and a.alias_info.is_write]
        self.names = {a.name for a in self.plain._schema.arguments} if self.plain else set()
        self.count = len(self.names)
        self.known = known(self.plain) if self.plain else None
        # in place of its first argument: no name, no second result
        self.first = self.plain is not None and [i for i, _ in self.targets] == [0] and not (
            func._schema.arguments[0].kwarg_only or len(func._schema.returns) != 1)
        # out= has the result's shape, as PyTorch has it
        self.resizes = all(func._schema.arguments[i].kwarg_only for i, _ in self.targets)


def holds(target, value):
    """Errors: RuntimeError, as PyTorch's, for a result whose kind of number the tensor cannot hold, and for a tensor of
    the host."""
    if not isinstance(target, DeviceTensor):
        raise RuntimeError("a tensor of the host cannot be changed in place by one of the device: move it there with "
                           ".to(device), or read the other one with .cpu()")
    made, kept = value.meta.dtype, target._meta.dtype
    if made is not kept and not torch.can_cast(made, kept):
        made, kept = [torch.empty(0, dtype=t).type().split(".")[-1].removesuffix("Tensor") for t in (made, kept)]
        raise RuntimeError(f"result type {made} can't be cast to the desired output type {kept}")


def writing(func, args, kwargs):
    """In-place operators and those with out=."""
    plan = known(func).writing or Writing(func)  # of a handler that passes its arguments on: made anew
    targets = [kwargs.get(name, args[i] if i < len(args) else None) for i, name in plan.targets]
    if plan.plain is None:
        return written_by_host(func, args, kwargs, targets)
    named = {k: v for k, v in kwargs.items() if k in plan.names} if kwargs else kwargs
    _, values = record(plan.plain, args[:plan.count], named)
    for target, value in zip(targets, values):
        holds(target, value)
        if value.meta.shape != target._meta.shape and plan.resizes:
            target.data = new_tensor(value).to(target.dtype)
        else:
            assign(target, value)
    return targets[0] if len(targets) == 1 else tuple(targets)


def writing_first(func, args, kwargs):
    """writing(), of an operator that writes to its first argument alone."""
    plan, target = func.trnsim_known.writing, args[0]
    if kwargs:
        kwargs = {k: v for k, v in kwargs.items() if k in plan.names}
    call, values = call_of(plan.plain, args[:plan.count], kwargs)
    if call.kind != "device" and _lower.left_to_host(call):
        return writing(func, args, kwargs)
    value = Value(call.outs[0], Node(call, values), 0)
    holds(target, value)
    assign(target, value)
    return target


def written_by_host(func, args, kwargs, targets):
    """The host writes to copies, whose values the targets have from here on."""
    if _lower.decomposing():
        raise Unsupported(f"{func}: it writes to its arguments, and no other operator computes the same")
    flat = [t for target in targets for t in (target if isinstance(target, (list, tuple)) else [target])]

    def there(item):
        if isinstance(item, (list, tuple)):
            return type(item)(there(x) for x in item)
        return copies[id(item)] if id(item) in copies else _special.on_host(item)
    with engine().left_to_host(func._schema.name):
        copies = {id(t): engine().download(t).clone() for t in flat}
        func(*there(args), **{k: there(a) for k, a in kwargs.items()})
    for target in flat:
        _special.become(target, from_host(copies[id(target)]))
    return targets[0] if len(targets) == 1 else tuple(targets)


def assign(target, value):
    """`target` has `value` from here on, in its own type."""
    if value.meta.key == target._meta.key and not target._chain:
        storage = target._base_storage
        storage.value = value
        storage.version += 1
        return
    if value.meta.shape != target._meta.shape:
        if value.meta.numel != 1 and len(value.meta.shape) > len(target._meta.shape):
            raise RuntimeError(f"output with shape {list(target._meta.shape)} doesn't match the broadcast shape "
                               f"{list(value.meta.shape)}")
        value = record(aten.expand.default, (new_tensor(value), list(target._meta.shape)), {})[1][0]
    if value.meta.dtype != target._meta.dtype:
        value = record(aten._to_copy.default, (new_tensor(value),), {"dtype": target._meta.dtype})[1][0]
    write(target, value)


def composed(func):
    """Whether PyTorch composes it of others; it comes here where a decomposition calls it."""
    has = getattr(torch._C, "_dispatch_has_kernel_for_dispatch_key", None)
    return hasattr(func, "decompose") and has is not None and has(func.name(), "CompositeImplicitAutograd")


def composition(func, args, kwargs):
    """By PyTorch's own composition; makers inside it name the device, which the mode has to see."""
    with HOOKS["operators"]():
        return func.decompose(*args, **kwargs)


def classify(func):
    special = _special.handler(func)
    if special is not None:
        return special
    if composed(func):
        return composition
    arguments = func._schema.arguments
    aliases = [a.alias_info for a in arguments if a.alias_info is not None]
    if any(alias.is_write for alias in aliases):
        return writing
    if aliases and any(r.alias_info is not None for r in func._schema.returns):
        return same if func in SAME else strided if func is aten.as_strided.default else view
    return tensor_list if str(func._schema.returns[0].type) == "List[Tensor]" else functional


WAYS = (None, functional, view, same, writing_first)  # by their numbers in python/torch/recorder.cpp
PLAIN = (type(None), bool, str, torch.dtype, torch.memory_format)  # arguments that are their own keys


def dispatch(func, args, kwargs):
    try:
        return known(func).handle(func, args, kwargs)
    except (Unsupported, NotImplementedError) as error:
        raise engine().explained(error, func) from None


HOOKS.update(dispatch=dispatch, functional=functional, writing=writing, assign=assign, forget_numbers=forget_numbers)
