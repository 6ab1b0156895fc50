"""The version of the package, for `charm --version` and for the build."""

__version__ = "0.1.0"
