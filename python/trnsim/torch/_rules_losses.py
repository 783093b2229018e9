"""Negative log likelihood, by comparing each class's number with the target: nothing moves by its value."""
from trnsim.torch._lower import rule


class Target:
    """The class of each row against the classes of `x`, whose dimension of classes is 1 (0 without a batch)."""

    def __init__(self, at, x, target, weight, ignored):
        text = at.text
        self.at, self.x, self.dim = at, x, 1 if x.rank > 1 else 0
        self.rows = x.shape[:self.dim] + x.shape[self.dim + 1:]
        self.kept_dims = [d for d in range(x.rank) if d != self.dim]
        target = text.reshape(text.convert(target, "i64"), self.rows)
        valid = text.compare("NE", target, text.constant(ignored, "i64", self.rows))
        classes = text.iota(x.shape, self.dim, "i64")
        self.chosen = text.binary("and", text.compare("EQ", classes, self.wide(target)), self.wide(valid))
        one = text.constant(1.0, x.element, x.shape)
        self.weights = one if weight is None else text.broadcast_in_dim(text.convert(weight, x.element), x.shape,
                                                                       [self.dim])

    def wide(self, row):
        return self.at.text.broadcast_in_dim(row, self.x.shape, self.kept_dims)

    def summed(self, x):
        """Over classes, of the chosen one."""
        text = self.at.text
        return text.reduce("add", text.select(self.chosen, x, text.constant(0, x.element, x.shape)), 0, [self.dim])


@rule("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(at, x, target, weight, reduction, ignored):
    text, found = at.text, Target(at, x, target, weight, ignored)
    losses = text.unary("negate", found.summed(text.binary("multiply", x, found.weights)))
    total = found.summed(found.weights)
    every = list(range(losses.rank))
    if reduction == 0:
        return losses, text.constant(0, x.element)
    total = text.reduce("add", total, 0, every)
    loss = text.reduce("add", losses, 0, every)
    return text.binary("divide", loss, total) if reduction == 1 else loss, total


@rule("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_gradient(at, grad, x, target, weight, *rest):
    reduction, ignored, total = rest
    text, found = at.text, Target(at, x, target, weight, ignored)
    if reduction == 1:  # where every target is left out, the loss is NaN, but no row has a gradient
        total, one = text.reshape(total, ()), text.constant(1.0, total.element)
        total = text.select(text.compare("NE", total, text.constant(0.0, total.element)), total, one)
        grad = text.binary("divide", text.reshape(grad, ()), total)
    wide = found.wide(text.reshape(grad, found.rows)) if reduction == 0 else text.broadcast(text.reshape(grad, ()),
                                                                                           x.shape)
    value = text.unary("negate", text.binary("multiply", wide, found.weights))
    return text.select(found.chosen, value, text.constant(0, x.element, x.shape))


def ended(at, losses, reduction):
    """All of them, their mean or their sum."""
    text = at.text
    if reduction == 0:
        return losses
    out = text.reduce("add", losses, 0, range(losses.rank))
    count = 1
    for size in losses.shape:
        count *= size
    return text.binary("divide", out, text.constant(float(count), out.element)) if reduction == 1 else out


def both(at, x, target):
    shape = [max(a, b) if 0 not in (a, b) else 0 for a, b in zip(wide(x, target), wide(target, x))]
    return at.text.broadcast(x, shape), at.text.broadcast(target, shape)


def wide(x, other):
    return (1,) * max(0, other.rank - x.rank) + x.shape


@rule("smooth_l1_loss")
def smooth_l1_loss(at, x, target, reduction=1, beta=1.0):
    text, (x, target) = at.text, both(at, x, target)
    far = text.unary("abs", text.binary("subtract", x, target))
    if beta == 0:
        return ended(at, far, reduction)
    limit = text.constant(beta, x.element, x.shape)
    near = text.binary("multiply", text.binary("multiply", far, far), text.constant(0.5 / beta, x.element, x.shape))
    linear = text.binary("subtract", far, text.constant(0.5 * beta, x.element, x.shape))
    return ended(at, text.select(text.compare("LT", far, limit), near, linear), reduction)


@rule("huber_loss")
def huber_loss(at, x, target, reduction=1, delta=1.0):
    text, (x, target) = at.text, both(at, x, target)
    far, half = text.unary("abs", text.binary("subtract", x, target)), text.constant(0.5, x.element, x.shape)
    limit = text.constant(delta, x.element, x.shape)
    near = text.binary("multiply", half, text.binary("multiply", far, far))
    linear = text.binary("multiply", limit, text.binary("subtract", far, text.binary("multiply", half, limit)))
    return ended(at, text.select(text.compare("LE", far, limit), near, linear), reduction)


@rule("mse_loss")
def mse_loss(at, x, target, reduction=1):
    x, target = both(at, x, target)
    apart = at.text.binary("subtract", x, target)
    return ended(at, at.text.binary("multiply", apart, apart), reduction)


def over_count(at, grad, x, reduction):
    """The gradient of each loss, from that of their mean or their sum."""
    text = at.text
    count = 1
    for size in x.shape:
        count *= size
    if reduction == 1:
        grad = text.binary("divide", grad, text.constant(float(max(count, 1)), grad.element, grad.shape))
    return text.broadcast(grad, x.shape)


def clipped(at, apart, limit):
    """`apart` within the limit, and the limit's sign beyond."""
    text = at.text
    high = text.constant(limit, apart.element, apart.shape)
    return text.binary("maximum", text.binary("minimum", apart, high), text.unary("negate", high))


@rule("smooth_l1_loss_backward")
def smooth_l1_gradient(at, grad, x, target, reduction, beta):
    text, (x, target) = at.text, both(at, x, target)
    apart = text.binary("subtract", x, target)
    slope = text.unary("sign", apart) if beta == 0 else text.binary(
        "divide", clipped(at, apart, beta), text.constant(beta, x.element, x.shape))
    return text.binary("multiply", over_count(at, grad, x, reduction), slope)


@rule("huber_loss_backward")
def huber_gradient(at, grad, x, target, reduction, delta):
    text, (x, target) = at.text, both(at, x, target)
    slope = clipped(at, text.binary("subtract", x, target), delta)
    return text.binary("multiply", over_count(at, grad, x, reduction), slope)


@rule("mse_loss_backward")
def mse_gradient(at, grad, x, target, reduction):
    text, (x, target) = at.text, both(at, x, target)
    apart = text.binary("subtract", x, target)
    return text.binary("multiply", over_count(at, grad, x, reduction), text.binary("add", apart, apart))
