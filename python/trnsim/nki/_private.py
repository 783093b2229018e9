"""neuronxcc.nki._private.private_api: names that published kernels import from there."""
from trnsim.nki._newer.meetings import core_barrier, sendrecv  # noqa: F401
from trnsim.nki._state import error


def do_while(*_, **__):
    raise error("do_while is private to the SDK", "use nl.sequential_range")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_, **__):
        raise error(f"{name} is private to the SDK and documented nowhere", "use nki.isa and nki.language")
    return refuse
