"""Studies in the formats of other tools, and the materials of others as studies."""

from felicity.interop.export import EXPORTS, export_study
from felicity.interop.imports import IMPORTS, import_study
from felicity.interop.scores import import_scores

__all__ = ["EXPORTS", "IMPORTS", "export_study", "import_scores", "import_study"]
