"""nki.experimental of the newer dialect: the loop whose condition the run knows."""
from trnsim.nki._newer.tensors import while_loop  # noqa: F401
