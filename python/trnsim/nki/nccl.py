"""nki.nccl: collectives between cores are not part of a kernel that runs on one."""
from trnsim.nki._state import error


def __getattr__(name):
    def refuse(*_, **__):
        raise error(f"nccl.{name}: collectives inside a kernel are not modelled", "use one core")
    if name.startswith("__"):
        raise AttributeError(name)
    return refuse
