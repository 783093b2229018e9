"""What nki.benchmark gives: latencies on the NeuronCore, and with the runtime around the program."""
import numpy as np


class Latency:
    """Latencies of the repetitions in microseconds."""

    def __init__(self, values):
        self.values = sorted(values)

    def get_latency_percentile(self, percentile):
        """Microseconds that so many per cent of the repetitions stay below."""
        return float(np.percentile(self.values, percentile))

    def __repr__(self):
        return f"{self.get_latency_percentile(50):.2f} us"


class BenchmarkResult:
    def __init__(self, compiled, times):
        self.compiled, self.times = compiled, times
        self.nc_latency = Latency([times["seconds"] * 1e6])
        whole = times["benchmark"] * 1e6  # every repetition takes the same time
        self.full_results = {"latency": {str(percentile): whole for percentile in (0, 1, 10, 25, 50, 90, 99, 100)}}

    def text(self, name):
        """As nki.benchmark prints it on the chip: each percentile, which are the same here."""
        nc, whole = self.nc_latency.get_latency_percentile(99), self.full_results["latency"]["99"]
        return f"{name}: latency on the NeuronCore {nc:.2f} us (p50 and p99), with the runtime {whole:.2f} us"
