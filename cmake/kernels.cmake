# Host kernels are compiled once per instruction set and chosen at run time (isa/kernels/).
