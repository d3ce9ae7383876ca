"""Where Felicity keeps the models that it fetched."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Return the cache folder: ``FELICITY_CACHE``, or the user's cache directory.

    Examples
    --------
    >>> cache_folder().is_absolute()
    True
    """
    chosen = os.environ.get("FELICITY_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("felicity")
