"""The version of this distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("trackside")
except PackageNotFoundError:  # a checkout that was never installed
    VERSION = "0+checkout"
