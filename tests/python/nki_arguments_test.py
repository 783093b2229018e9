"""Numbers of a kernel's arguments: the machine's have 32 bits or fewer."""
import unittest

import numpy as np

import trnsim
import trnsim.nki  # noqa: F401  (makes the next two work)

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


class Numbers(unittest.TestCase):
    def test_numbers_of_64_bits_have_32_on_the_machine(self):
        @nki.jit
        def copied(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.load(a))
            return out

        for dtype, narrow, far in ((np.float64, np.float32, 1e300), (np.int64, np.int32, -(2 ** 31) - 1),
                                   (np.uint64, np.uint32, 2 ** 32)):
            got = copied(np.full((4, 4), 3, dtype))
            self.assertEqual((got.dtype, got[3, 3]), (narrow, 3))
            with self.assertRaisesRegex(trnsim.Error, f"{dtype.__name__} holds .* 32 bits"):
                copied(np.full((4, 4), far, dtype))
        np.testing.assert_array_equal(copied(np.array([[np.inf, -np.inf, np.nan, 0]])), [[np.inf, -np.inf, np.nan, 0]])


if __name__ == "__main__":
    unittest.main()
