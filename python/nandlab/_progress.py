"""How far work is: told to a function, or shown by tqdm."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Callable, Generator, Union

#: A function that is told the share that is done (0 to 1), `True` for a bar by tqdm, or nothing.
Progress = Union[Callable[[float], object], bool, None]


@contextmanager
def telling(progress: Progress, title: str) -> Generator[Callable[[float], object] | None, None, None]:
    """The function that the work tells its share.

    Raises ImportError if a bar is wanted and tqdm is not installed, TypeError if it is not a function.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress=True shows a bar by tqdm: pip install tqdm, or give a function") from None
        # It counts per mille: of several passes over a trace each begins again.
        with tqdm(total=1000, desc=title, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:

            def show(share: float) -> None:
                bar.n = round(1000 * share)
                bar.refresh()

            yield show
            show(1.0)
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress: {progress!r} is neither a function nor True")
