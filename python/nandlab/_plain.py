"""Arguments as plain numbers: what is none is refused by name."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def whole(name: str, value: Any) -> int:
    """A whole number, also one of NumPy.

    Raises TypeError if it is something else: a truth, a fraction, a text.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name}: {value!r} is not a whole number")
    return number


def unmasked(name: str, values: Any) -> NDArray[Any]:
    """Values as an array.

    Raises ValueError if some are masked: an array without its mask would have what lies below.
    """
    import numpy

    if numpy.ma.is_masked(values):
        raise ValueError(f"{name}: values are missing (masked); fill them in or leave them out")
    return numpy.asarray(values)
