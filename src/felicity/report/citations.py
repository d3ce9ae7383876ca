"""citations.bib: the study, how answers were scored, the models, the software."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = "citations.bib"

METHODS = {
    "pll_within_word_l2r": r"""@inproceedings{kauf-ivanova-2023-better,
  title = {A Better Way to Do Masked Language Model Scoring},
  author = {Kauf, Carina and Ivanova, Anna},
  booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational
    Linguistics (Volume 2: Short Papers)},
  year = {2023},
  pages = {925--935}
}""",
    "pll_original": r"""@inproceedings{salazar-etal-2020-masked,
  title = {Masked Language Model Scoring},
  author = {Salazar, Julian and Liang, Davis and Nguyen, Toan Q. and Kirchhoff, Katrin},
  booktitle = {Proceedings of the 58th Annual Meeting of the Association for Computational
    Linguistics},
  year = {2020},
  pages = {2699--2712}
}""",
}
SOFTWARE = {
    "transformers": r"""@inproceedings{wolf-etal-2020-transformers,
  title = {Transformers: State-of-the-Art Natural Language Processing},
  author = {Wolf, Thomas and others},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language
    Processing: System Demonstrations},
  year = {2020},
  pages = {38--45}
}""",
    "torch": r"""@inproceedings{paszke-etal-2019-pytorch,
  title = {{PyTorch}: An Imperative Style, High-Performance Deep Learning Library},
  author = {Paszke, Adam and others},
  booktitle = {Advances in Neural Information Processing Systems 32},
  year = {2019}
}""",
    "scipy": r"""@article{virtanen-etal-2020-scipy,
  title = {{SciPy} 1.0: Fundamental Algorithms for Scientific Computing in {Python}},
  author = {Virtanen, Pauli and others},
  journal = {Nature Methods},
  volume = {17},
  year = {2020},
  pages = {261--272}
}""",
}


def bibliography(study_folder: Path, manifests: Sequence[Mapping[str, Any]]) -> str:
    """Collect what a report of these runs should cite, as BibTeX.

    Parameters
    ----------
    study_folder
        Its ``citations.bib``, if there is one, comes first, as it is.
    manifests
        Of the runs: methods, models and software versions are read from them.
    """
    entries = []
    own = study_folder / FILE
    if own.is_file():
        entries.append(own.read_text(encoding="utf-8").strip())
    told = [manifest["participant"] for manifest in manifests]
    methods = {str(each.get("method")) for each in told}
    entries += [text for method, text in METHODS.items() if method in methods]
    models = {str(each.get("spec")): each for each in told}
    entries += [_model_entry(each) for each in models.values()]
    versions = latest_versions(manifests)
    entries.append(_own_entry(versions.get("felicity")))
    # Software that answered a server's requests is not on this machine.
    entries += [text for name, text in SOFTWARE.items() if name in versions]
    return "\n\n".join(entries) + "\n"


def latest_versions(manifests: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions of each run's last sitting; several of one package stand together."""
    found: dict[str, list[str]] = {}
    for manifest in manifests:
        sessions = manifest.get("sessions") or [{}]
        for package, version in sessions[-1].get("versions", {}).items():
            if version not in found.setdefault(package, []):
                found[package].append(version)
    return {package: ", ".join(sorted(versions)) for package, versions in found.items()}


def _model_entry(told: Mapping[str, Any]) -> str:
    spec = str(told.get("spec", ""))
    kind, _, name = spec.partition(":")
    # A folder's place on somebody's disk tells a reader nothing.
    local = kind == "hf" and Path(name).is_absolute()
    where = Path(name).name if local else name
    notes = [f"revision {told['revision']}"] if told.get("revision") else []
    weights = str(told.get("weights_fingerprint") or "")
    if weights and not weights.startswith("file:"):
        notes.append(f"weights {weights}")
    lines = [
        f"@misc{{model-{_key(where or spec)},",
        f"  title = {{{{{_plain(str(told.get('label') or where))}}}}},",
        f"  howpublished = {{{_plain(where or spec)}}}" + ("," if notes else ""),
        *([f"  note = {{{_plain('; '.join(notes))}}}"] if notes else []),
        "}",
    ]
    return "\n".join(lines)


def _own_entry(version: str | None) -> str:
    known = f",\n  version = {{{version}}}" if version else ""
    return (
        "@software{felicity,\n  title = {{Felicity}: Studies of language use, run on language "
        f"models as they were run on people}}{known}\n}}"
    )


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _plain(text: str) -> str:
    """Escape what BibTeX and LaTeX would read as a command."""
    return re.sub(r"([&%$#_{}])", r"\\\1", text)
