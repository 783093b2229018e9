"""torch.device("neuron"): another name of "xla", which PyTorch's own class does not know."""
import torch

from trnsim._device_class import take_place

PLAIN = torch.device


def known(place):
    """`place` by the name that PyTorch has for it."""
    name, *index = place.split(":") if isinstance(place, str) else (None,)
    return ":".join(["xla", *index]) if name == "neuron" else place


def made(plain, *args, **kwargs):
    return plain(*map(known, args), **{key: known(value) for key, value in kwargs.items()})


def install():
    take_place(torch, made)
