"""What the compiler of each dialect does to a kernel."""
from trnsim.nki._state import state


def is_newer(func):
    """Whether a kernel is of the newer dialect."""
    return getattr(func, "_nki_newer", False)


def passes(func, switches):
    """The switches of the passes; `switches`: those of the command. The compiler of the newer dialect leaves loads as
    they are: it removes none that repeats and repeats none. Its scheduler reorders freely (documentation of
    nl.no_reorder), but not far: kernels that interleave their chains by hand gain by it, as public ones measured (a
    chunked delta rule of nki-samples)."""
    if switches == "none" or not is_newer(func):
        return switches
    order = "-reorder" if state.keeps_order else "+near"
    return f"-reuse,-reload,{order}" + ("," + switches if switches else "")


def generators(generation):
    """What copies change of a machine of that generation. In the older dialect, descriptors are made before
    the kernel runs, unless a copy asks for hwdge; the compiler then chooses the unit (architecture guide of Trainium2).
    The newer one's compiler has Sync's unit make those of all copies (kernels of TileBench, 32 to 560 copies each: 0.65
    to 0.69 us a copy on Trn2), ScalarE's only where the kernel asks for it, and none where all copies are
    dge_mode.none. Gathers by software are as everywhere."""
    if generation < 3:
        return ()
    modes = state.descriptors
    if not state.newer:
        return () if any(mode == "hwdge" for mode, _ in modes) else ("dma.generators=0",)
    if not modes or ("hwdge", "scalar") in modes:
        return ()
    return ("dma.generators=0",) if {mode for mode, _ in modes} == {"none"} else ("dma.generators=1",)
