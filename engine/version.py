"""The version, for people and for the build."""

VERSION = "0.1.0"
