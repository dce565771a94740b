"""The largest numbers of long rows. `Tensor.topk` scans a row number by number; comparing columns
first lets the processor handle many at a time.
"""

from typing import Final, NamedTuple

from torch import Tensor

LAYERS: Final = 16  # a row of V numbers is seen as so many layers of V / 16 columns
PAYS_FROM: Final = 8 * 1024  # numbers in all rows; below, the plain way is faster


class Picked(NamedTuple):
    """The k largest numbers of each row, in no order, and where they stand."""

    values: Tensor  # (R, k)
    indices: Tensor  # (R, k)


def largest(x: Tensor, k: int) -> Picked:
    """The k largest of each row; the k columns with the largest maxima must hold them.  (R, V) ->
    2 × (R, k)
    """
    n_rows, n_tokens = x.shape
    width = n_tokens // LAYERS
    if n_tokens % LAYERS or width < k or n_rows < 2 or x.numel() < PAYS_FROM:
        return Picked(*x.topk(k, dim=1, sorted=False))
    layers = x.view(n_rows, LAYERS, width)
    columns = layers.amax(dim=1).topk(k, dim=1, sorted=False).indices  # (R, k)
    inside = layers.gather(2, columns[:, None].expand(-1, LAYERS, -1)).flatten(1)  # (R, 16 · k)
    values, places = inside.topk(k, dim=1, sorted=False)
    layer = places.div(k, rounding_mode="floor")  # (R, k)
    return Picked(values, layer * width + columns.gather(1, places % k))
