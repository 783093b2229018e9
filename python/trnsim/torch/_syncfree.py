"""torch_xla.amp.syncfree: optimizers whose step takes a tensor that says whether gradients are infinite, and then
changes nothing: no value is read for it, so the step stays one graph."""
import torch

from trnsim.torch._tensor import DeviceTensor, from_host


def checked(found_inf):
    """Whether gradients are infinite, as a truth value on the device. Errors: ValueError for more than one number."""
    if found_inf.shape:
        raise ValueError("The found_inf tensor has to be scalar type")
    return (found_inf if isinstance(found_inf, DeviceTensor) else from_host(found_inf)) != 0


def with_gradients(optimizer, closure):
    """(loss, [(group, parameter, gradient)])"""
    loss = None
    if closure is not None:
        with torch.enable_grad():
            loss = closure()
    return loss, [(group, p, -p.grad if group.get("maximize") else p.grad)
                  for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def next_step(state, skips):
    """The number of the step, on the device, which a step that is left out does not count."""
    step = state.get("step", torch.zeros(()))
    step = step if isinstance(step, DeviceTensor) else from_host(torch.as_tensor(step, dtype=torch.float32))
    state["step"] = step + (~skips).to(step.dtype)
    return state["step"]


def adam(parameter, grad, state, group, skips):
    """One of Adam's steps; of AdamW, where the group decays the parameter itself."""
    (one, two), decay, step = group["betas"], group["weight_decay"], next_step(state, skips)
    names = ("exp_avg", "exp_avg_sq") + (("max_exp_avg_sq",) if group["amsgrad"] else ())
    mean, square, *largest = (state.setdefault(name, torch.zeros_like(parameter)) for name in names)
    own = parameter
    if decay and group["decoupled"]:
        own = parameter * (1 - group["lr"] * decay)
    elif decay:
        grad = grad + parameter * decay
    new = [mean * one + grad * (1 - one), square * two + grad * grad * (1 - two)]
    if largest:
        new.append(torch.maximum(largest[0], new[1]))
    below = new[-1].sqrt() / (1 - two ** step).sqrt() + group["eps"]
    own = own - group["lr"] / (1 - one ** step) * (new[0] / below)
    for target, value in zip((parameter, mean, square, *largest), (own, *new)):
        target.copy_(torch.where(skips, target, value))


def gradient_descent(parameter, grad, state, group, skips):
    first = state.get("step", 0) == 0
    momentum = group["momentum"]
    if group["weight_decay"]:
        grad = grad + parameter * group["weight_decay"]
    next_step(state, skips)
    if momentum:
        before = state.get("momentum_buffer")
        buffer = grad if before is None else before * momentum + grad * (1 - group["dampening"])
        buffer = torch.where(first, grad, buffer) if isinstance(first, DeviceTensor) else buffer
        grad = grad + buffer * momentum if group["nesterov"] else buffer
        state["momentum_buffer"] = torch.where(skips, torch.zeros_like(buffer) if before is None else before, buffer)
    parameter.copy_(torch.where(skips, parameter, parameter - grad * group["lr"]))


def stepping(base, rule, **more):
    """A class of optimizers whose steps follow `rule` where they are told of infinite gradients."""

    @torch.no_grad()
    def step(self, closure=None, found_inf=None):
        if found_inf is None:
            return base.step(self, closure)
        skips = checked(found_inf)
        loss, given = with_gradients(self, closure)
        for group, parameter, grad in given:
            rule(parameter, grad, self.state[parameter], {**group, **more}, skips)
        return loss
    return type(base.__name__, (base,), {"step": step, "__doc__": base.__doc__, "__module__": "torch_xla.amp.syncfree"})


def tables():
    """{module below torch_xla: its names}: the package, and a module of each class."""
    classes = dict(Adam=stepping(torch.optim.Adam, adam, decoupled=False),
                   AdamW=stepping(torch.optim.AdamW, adam, decoupled=True),
                   SGD=stepping(torch.optim.SGD, gradient_descent))
    return {"amp.syncfree": classes,
            **{f"amp.syncfree.{name.lower()}": {name: kind} for name, kind in classes.items()}}
