"""Scoring on many machines: a participant whose batches are spread over a Ray cluster."""

from __future__ import annotations

from felicity.cluster.connection import Cluster
from felicity.cluster.participant import RayParticipant
from felicity.cluster.place import OnRay, parse_on
from felicity.participants.opening import Opening

__all__ = ["Cluster", "OnRay", "Opening", "RayParticipant", "parse_on"]
