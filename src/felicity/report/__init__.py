"""From runs to tables: what a reader publishes."""

from felicity.report.choice.analysis import Analysis, Cell, ParticipantResult, analyse
from felicity.report.choice.files import write_report
from felicity.report.rating.analysis import RatingAnalysis, RatingResult, analyse_ratings
from felicity.report.rating.content import rating_content
from felicity.report.rating.files import write_rating_report
from felicity.report.rating.replies import RatingDescription, RatingReplies, describe_ratings

__all__ = [
    "Analysis",
    "Cell",
    "ParticipantResult",
    "RatingAnalysis",
    "RatingDescription",
    "RatingReplies",
    "RatingResult",
    "analyse",
    "analyse_ratings",
    "describe_ratings",
    "rating_content",
    "write_rating_report",
    "write_report",
]
