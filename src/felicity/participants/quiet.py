"""Keep transformers' progress bars and advice off the terminal while a model is loaded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Switch them off; what could make a score wrong is checked for and raised by Felicity."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        # The GGUF reader draws its bar past that switch.
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
