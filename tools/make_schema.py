"""Write docs/experiment.schema.json from the reader's keys; with --check fail where it is stale."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from felicity.experiment.schema import experiment_schema

PAGE = Path(__file__).parents[1] / "docs" / "experiment.schema.json"


def main() -> int:
    """Write or check."""
    fresh = json.dumps(experiment_schema(), indent=2, ensure_ascii=False) + "\n"
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != fresh:
            print(f"{PAGE.name} is stale; run `make docs`", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
