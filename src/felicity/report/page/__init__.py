"""report.html: a report and every response behind it, in one file that needs no network."""

from felicity.report.page.build import build_page, open_page_of

__all__ = ["build_page", "open_page_of"]
