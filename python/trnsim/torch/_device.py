"""torch.device("neuron"): another name of "xla", which PyTorch's own class does not know."""
import copyreg

import torch

PLAIN = torch.device


def known(place):
    """`place` by the name that PyTorch has for it."""
    name, *index = place.split(":") if isinstance(place, str) else (None,)
    return ":".join(["xla", *index]) if name == "neuron" else place


class Device(type):
    """Its class makes devices of PyTorch's, and answers for their class."""

    def __call__(cls, *args, **kwargs):
        return PLAIN(*map(known, args), **{key: known(value) for key, value in kwargs.items()})

    def __instancecheck__(cls, instance):
        return isinstance(instance, PLAIN)

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, PLAIN)

    def __eq__(cls, other):
        return other is cls or other is PLAIN

    def __hash__(cls):
        return hash(PLAIN)


def install():
    torch.device = Device("device", (), {"__doc__": PLAIN.__doc__, "__module__": "torch"})
    copyreg.pickle(PLAIN, lambda place: (torch.device, (str(place),)))  # by its name, which is now this class's
