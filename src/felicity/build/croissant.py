"""Croissant metadata (MLCommons, version 1.0) of an exported study, as JSON-LD."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from felicity.build.folder import DIALOGUES, BuildFolder, today
from felicity.build.wording import COLUMNS

FORMATS = {
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".csv": "text/csv",
    ".toml": "application/toml",
    ".md": "text/markdown",
    ".bib": "application/x-bibtex",
}
DESCRIPTIONS = {
    "dialogue_id": "One question with its two answers; its wordings share it.",
    "template_id": "The template that the dialogue was made from.",
    "maxim": "The maxim that the follower keeps and the violator breaks.",
    "wording": "0 is the original wording of the question, others are rewordings.",
    "question": "What the first speaker asks.",
    "follower": "The answer that keeps the maxim.",
    "violator": "The answer that breaks the maxim.",
}
# The terms that the format asks for, as its specification lists them.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(kept: BuildFolder, folder: Path) -> str:
    """Return the metadata of the files that lie in a study's folder."""
    plan = kept.plan
    files = sorted(folder.iterdir())
    creators = [{"@type": "sc:Organization", "name": name} for name in plan.creators]
    about: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": plan.name,
        "description": plan.description or plan.title,
        "license": f"https://spdx.org/licenses/{plan.licence}.html",
        "version": plan.version,
        "datePublished": today(),
        "inLanguage": plan.language.code,
        "citeAs": f"{plan.title} ({plan.name} {plan.version})",
        "distribution": [_file(path) for path in files],
        "recordSet": [_records()],
    }
    about |= {"creator": creators} if creators else {}
    about |= {"url": plan.url} if plan.url else {}
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def _file(path: Path) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": FORMATS.get(path.suffix, "text/plain"),
        "contentSize": f"{path.stat().st_size} B",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _records() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "dialogues",
        "name": "dialogues",
        "description": "A dialogue under one wording of its question.",
        "key": [{"@id": "dialogues/dialogue_id"}, {"@id": "dialogues/wording"}],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"dialogues/{name}",
                "name": name,
                "description": DESCRIPTIONS[name],
                "dataType": "sc:Text",
                "source": {"fileObject": {"@id": DIALOGUES}, "extract": {"column": name}},
            }
            for name in COLUMNS
        ],
    }
