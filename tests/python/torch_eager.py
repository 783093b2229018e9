"""A backend for tests of the recorder alone: PyTorch itself computes each recorded operator on the CPU."""
from trnsim.torch._values import filled


class Eager:
    def __init__(self):
        self.compiled = 0

    def upload(self, tensor):
        return tensor.detach().clone()

    def download(self, buffer, meta):
        return buffer.detach().clone().contiguous()

    def compile(self, graph, name):
        self.compiled += 1
        return [(n.call, i) for n, i in zip(graph.nodes, graph.inputs)], graph.outs

    def run(self, program, leaves):
        steps, outs = program
        known = [v.host if v.buffer is None else v.buffer for v in leaves]
        results = []
        for call, inputs in steps:
            tensors = [results[i[0]][i[1]] if isinstance(i, tuple) else known[i] for i in inputs]
            out = call.func(*filled(call.args, tensors), **filled(call.kwargs, tensors))
            results.append([out] if call.single else list(out))
        return [results[i][j] for i, j in outs]
