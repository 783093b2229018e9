"""Matrix products."""
from trnsim.torch._lower import rule


def plus(at, bias, product, beta, alpha):
    text = at.text
    if type(alpha) not in (int, float) or alpha != 1:
        product = text.binary("multiply", product, at.cast(alpha))
    if type(beta) in (int, float) and beta == 0:
        return product
    bias = at.cast(bias)
    if type(beta) not in (int, float) or beta != 1:
        bias = text.binary("multiply", bias, at.cast(beta))
    return text.binary("add", product, bias)


@rule("mm", "mv", "dot", "vdot")
def mm(at, a, b):
    return at.text.dot_general(a, b, ([], []), ([a.rank - 1], [0]))


@rule("bmm")
def bmm(at, a, b):
    return at.text.dot_general(a, b, ([0], [0]), ([2], [1]))


@rule("addmm", "addmv")
def addmm(at, bias, a, b, beta=1, alpha=1):
    return plus(at, bias, mm(at, a, b), beta, alpha)


@rule("baddbmm")
def baddbmm(at, bias, a, b, beta=1, alpha=1):
    return plus(at, bias, bmm(at, a, b), beta, alpha)


@rule("addbmm")
def addbmm(at, bias, a, b, beta=1, alpha=1):
    return plus(at, bias, at.text.dot_general(a, b, ([], []), ([0, 2], [0, 1])), beta, alpha)


@rule("addr")
def addr(at, bias, a, b, beta=1, alpha=1):
    return plus(at, bias, at.text.dot_general(at.cast(a, shape=a.shape), at.cast(b, shape=b.shape), ([], []), ([], [])),
                beta, alpha)
