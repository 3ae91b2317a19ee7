"""Errors of the engine that controllers handle. Importing this loads the engine: not before the first frame."""

from engine.api import (
    AlreadyDecided,
    ConfigError,
    NotFound,
    RunnersError,
    SessionDeleted,
    StateRefused,
    StoreError,
    TargetNotFound,
)

__all__ = [
    "AlreadyDecided",
    "ConfigError",
    "NotFound",
    "RunnersError",
    "SessionDeleted",
    "StateRefused",
    "StoreError",
    "TargetNotFound",
]
