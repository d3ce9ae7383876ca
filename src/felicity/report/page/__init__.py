"""report.html: a report and every response behind it, in one file that needs no network."""

from felicity.report.page.build import build_page
from felicity.report.page.stamp import PAGE, is_page_of

__all__ = ["PAGE", "build_page", "is_page_of"]
