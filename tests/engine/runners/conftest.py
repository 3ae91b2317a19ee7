from tests.support.plugin_folders import plugins, write

__all__ = ["plugins", "write"]
