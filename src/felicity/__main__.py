"""``python -m felicity``."""

from felicity.cli import main

main()
