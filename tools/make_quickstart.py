"""Execute docs/quickstart.ipynb and write its page; with --check fail where it cannot or is stale.

The notebook is the source: its cells are edited there, its outputs are those of the last execution.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = DOCS / "quickstart.ipynb"
PAGE = DOCS / "quickstart.md"
SECONDS = 600


def execute(notebook: Any) -> None:
    """Execute all cells in an empty folder; what they show goes into the notebook."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # What libraries say on standard error is about this machine, paths and all.
            cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
    notebook.metadata = {"language_info": {"name": "python"}}


def page_of(notebook: Any) -> str:
    """Return the notebook as a page: its words, its code, what each cell showed."""
    head = "<!-- Made from quickstart.ipynb by `make docs`; edit that. -->\n"
    parts = [head]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(f"{cell.source}\n")
            continue
        parts.append(f"```python\n{cell.source}\n```\n")
        parts.extend(shown for output in cell.outputs if (shown := show(output)))
    return "\n".join(parts)


def show(output: Any) -> str:
    """Return an output as Markdown: HTML or a figure as it is, else its text."""
    if output.output_type == "stream":
        return (
            f'```text title="Output"\n{output.text.rstrip()}\n```\n' if output.text.strip() else ""
        )
    data = output.get("data", {})
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            # A blank line would end the HTML for Markdown, and an indented one would begin code.
            lines = [line.strip() for line in data[kind].splitlines() if line.strip()]
            return '<div class="notebook-output">\n' + "\n".join(lines) + "\n</div>\n"
    return f'```text title="Output"\n{data.get("text/plain", "").rstrip()}\n```\n'


def code_of(page: str) -> list[str]:
    """Return the code blocks of a page."""
    return re.findall(r"```python\n(.*?)\n```", page, re.DOTALL)


def main() -> int:
    """Write or check."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    try:
        execute(notebook)
    except CellExecutionError as error:
        print(f"{NOTEBOOK.name} does not run:\n{error}", file=sys.stderr)
        return 1
    fresh = page_of(notebook)
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or code_of(PAGE.read_text(encoding="utf-8")) != code_of(fresh):
            print(f"{PAGE.name} is stale; run `make docs`", file=sys.stderr)
            return 1
        return 0
    nbformat.write(notebook, NOTEBOOK)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
