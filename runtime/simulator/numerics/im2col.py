"""Tensor copies in im2col mode (PTX 5.5.4): a column of pixels, walked through the images of a batch as a convolution does.

Dimensions are innermost first: channels, then W, H, D as far as the rank goes, then the images N. The filter's base walks through a bounding box of each image, from
``lower`` to ``size - 1 + upper`` along each of W, H, D, in steps of the element strides, W first; behind the last one comes the next image. At each place the pixel `offsets`
away from the base is copied, or fill where that lies outside its image or the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fa4dsl.runtime.simulator.numerics.tensor import Box, TensorLayout, element_bytes, element_type
from fa4dsl.runtime.tensor_map import Im2col

_FILL_NAN = 0x7FF7


@dataclass(frozen=True)
class Im2colLayout:
    """A map for this mode. `tiled` holds type, sizes, strides, swizzle and fill, and the channels of a pixel as its innermost extent."""

    tiled: TensorLayout
    im2col: Im2col

    @property
    def dtype(self) -> str:
        return self.tiled.dtype

    @property
    def swizzle(self) -> str:
        return self.tiled.swizzle

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First and last base position along W, H, D."""
        spatial = self.tiled.sizes[1:-1]
        return [(low, size - 1 + high) for size, low, high in zip(spatial, self.im2col.lower, self.im2col.upper, strict=True)]

    def outside(self, coordinates: Sequence[int]) -> int | None:
        """The dimension along which a copy would begin outside the bounding box."""
        for dimension, (low, high) in enumerate(self.bounds, start=1):
            if not low <= coordinates[dimension] <= high:
                return dimension
        return None

    def at(self, coordinates: Sequence[int], offsets: Sequence[int] = ()) -> Box:
        """The column whose first base position is at `coordinates`."""
        layout = self.tiled
        width = element_bytes(layout.dtype)
        channels, pixels = layout.box[0], self.im2col.pixels
        inside = np.ones(pixels, np.bool_)
        places = np.full(pixels, int(coordinates[0]) * width, np.int64)
        carry = np.arange(pixels, dtype=np.int64)
        shifts = [*offsets, *([0] * (layout.rank - 2 - len(offsets)))]
        for dimension, (low, high) in enumerate(self.bounds, start=1):
            step = layout.element_strides[dimension]
            start = int(coordinates[dimension])
            # steps that the first row still has, then whole rows
            rest, whole = max((high - start) // step + 1, 0), max((high - low) // step + 1, 1)
            first = carry < rest
            position = np.where(first, start + carry * step, low + (carry - rest) % whole * step) + shifts[dimension - 1]
            carry = np.where(first, 0, 1 + (carry - rest) // whole)
            inside &= (position >= 0) & (position < layout.sizes[dimension])
            places += position * layout.strides_bytes[dimension - 1]
        image = carry + int(coordinates[-1])
        inside &= (image >= 0) & (image < layout.sizes[-1])
        places += image * layout.strides_bytes[-1]
        begin = min(max(-int(coordinates[0]), 0), channels)
        end = min(max(layout.sizes[0] - int(coordinates[0]), 0), channels)
        fill = _FILL_NAN if layout.oob_fill == "nan" else 0
        return Box(element_type(layout.dtype), channels * width, places, inside, begin * width, end * width, fill)
