"""torch_neuronx.nki_op: a function around kernels as an operator of PyTorch, with a backward pass if one is given."""
import functools
import inspect

from trnsim.nki._state import error


class Operator:
    """A function under the name "library::operator", as torch.library.custom_op makes one: with gradients only where
    register_autograd has a backward pass."""

    def __init__(self, name, function):
        self.name, self.function, self._backward, self._setup = name, function, None, None
        self._parameters = inspect.signature(function)
        functools.update_wrapper(self, function)

    def register_autograd(self, backward, /, *, setup_context=None):
        """`backward(ctx, *gradients)`; `setup_context(ctx, inputs, output)` keeps what it needs."""
        self._backward, self._setup = backward, setup_context

    def register_fake(self, fake, /):
        """Shapes for a graph: here the results have theirs."""
        return fake

    def register_kernel(self, *_, **__):
        """For another device: every call runs the function on the simulated one."""
        return lambda function: function

    def __call__(self, *args, **kwargs):
        import torch
        bound = self._parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._backward is None or bound.kwargs:
            with torch.no_grad():
                return self.function(*bound.args, **bound.kwargs)
        return _differentiable().apply(self, *bound.args)

    @property
    def default(self):
        """The overload of torch.ops."""
        return self


@functools.cache
def _differentiable():
    import torch

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx, operator, *inputs):
            ctx.operator = operator
            output = operator.function(*inputs)
            if operator._setup is not None:
                operator._setup(ctx, inputs, output)
            return output

        @staticmethod
        def backward(ctx, *gradients):
            given = ctx.operator._backward(ctx, *gradients)
            return None, *(given if isinstance(given, (tuple, list)) else (given,))

    return Call


def nki_op(name, fn=None, mutates_args=()):
    """Makes a function an operator: `@nki_op("library::operator", mutates_args={})`."""
    if fn is None:
        return lambda function: nki_op(name, function, mutates_args)
    import torch
    library, colons, operator = str(name).partition("::")
    if not (colons and library.isidentifier() and operator.isidentifier()):
        raise error(f"nki_op names an operator {str(name)[:40]!r}", 'give "library::operator"')
    made = Operator(name, fn)
    setattr(getattr(torch.ops, library), operator, made)
    return made
