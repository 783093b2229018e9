"""neuronx_distributed, as far as training scripts use it, on the simulated cores' collectives. Written from the pages
of its documentation (API guide, developer guides of tensor parallelism, ZeRO-1 and checkpoints)."""
