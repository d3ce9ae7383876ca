"""The words that name a model: ``embedded:``, ``hf:…[@REVISION]``, ``api:``, ``server:URL#…``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from felicity.errors import ModelError

KINDS = ("embedded", "hf", "api", "server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A parsed model name.

    Attributes
    ----------
    text
        As given.
    kind
        ``embedded``, ``hf``, ``api`` or ``server``.
    source
        Embedded name, folder, hub id, provider and model, or a server's address.
    gguf
        Name of a GGUF file within the source, or None.
    revision
        Branch, tag or commit on the hub, or None.
    model
        Which of a server's models, or None for its only one.
    """

    text: str
    kind: str
    source: str
    gguf: str | None = None
    revision: str | None = None
    model: str | None = None

    @property
    def slug(self) -> str:
        """A name for folders.

        Examples
        --------
        >>> parse_spec("hf:babylm/ltgbert-10m-2024@main").slug
        'babylm-ltgbert-10m-2024@main'
        """
        name = self.source
        if self.kind == "server":
            name = f"{self.model or 'model'}-{urlsplit(self.source).netloc}"
        elif Path(self.source).exists():
            name = Path(self.source).resolve().name
        name = f"{name}/{self.gguf}" if self.gguf else name
        name = f"{name}@{self.revision}" if self.revision else name
        return "".join(c if c.isalnum() or c in "-_.@" else "-" for c in name).strip("-.")

    @property
    def label(self) -> str:
        """A short name for tables: the last part of the source, with the revision."""
        if self.gguf:
            name = Path(self.gguf).stem
        elif self.kind == "server":
            name = (self.model or urlsplit(self.source).netloc).rsplit("/", 1)[-1]
        elif Path(self.source).exists():
            name = Path(self.source).resolve().name
        else:
            name = self.source.rsplit("/", 1)[-1]
        return f"{name}@{self.revision}" if self.revision else name


def parse_spec(text: str) -> ModelSpec:
    """Parse a model's name.

    Raises
    ------
    ModelError
        Where it has no known beginning, or nothing after it.

    Examples
    --------
    >>> parse_spec("embedded:smollm2-135m").kind
    'embedded'
    >>> spec = parse_spec("hf:allenai/OLMo-1B-hf@step1000")
    >>> spec.source, spec.revision
    ('allenai/OLMo-1B-hf', 'step1000')
    >>> parse_spec("hf:someone/some-GGUF/some.Q4_1.gguf").gguf
    'some.Q4_1.gguf'
    >>> parse_spec("server:http://127.0.0.1:8000/v1#meta-llama/Llama-3.1-70B").slug
    'meta-llama-Llama-3.1-70B-127.0.0.1-8000'
    """
    kind, _, rest = text.partition(":")
    if kind not in KINDS or not rest:
        raise ModelError(
            f'got "{text}"; expected embedded:NAME, hf:ID, hf:FOLDER, api:PROVIDER/MODEL or '
            "server:URL#MODEL",
            where="model",
            hint="`felicity models` lists embedded models; a folder or hub id needs hf: before it",
        )
    if kind == "server":
        address, _, model = rest.partition("#")
        return ModelSpec(text=text, kind=kind, source=address, model=model or None)
    if kind != "hf":
        return ModelSpec(text=text, kind=kind, source=rest)
    source, revision = rest, None
    if not Path(rest).expanduser().exists() and "@" in rest:
        source, _, revision = rest.rpartition("@")
    path = Path(source).expanduser()
    gguf = None
    if source.endswith(".gguf"):
        gguf = path.name
        source = str(path.parent)
    elif path.exists():
        source = str(path)
    return ModelSpec(text=text, kind=kind, source=source, gguf=gguf, revision=revision or None)
