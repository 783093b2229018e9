"""The rules of operators, by kind."""
from trnsim.torch import _collectives  # noqa: each registers its rules
from trnsim.torch import _rules_composed  # noqa
from trnsim.torch import _rules_convolution  # noqa
from trnsim.torch import _rules_elementwise  # noqa
from trnsim.torch import _rules_indexed  # noqa
from trnsim.torch import _rules_losses  # noqa
from trnsim.torch import _rules_movement  # noqa
from trnsim.torch import _rules_order  # noqa
from trnsim.torch import _rules_pooling  # noqa
from trnsim.torch import _rules_products  # noqa
from trnsim.torch import _rules_reductions  # noqa
from trnsim.torch import _rules_scans  # noqa
