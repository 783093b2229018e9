"""nki.collectives: between cores. A kernel runs on one."""
from trnsim.nki._state import error


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_, **__):
        raise error(f"nki.collectives.{name}: collectives inside of a kernel are not modelled", "use one core")
    return refuse
