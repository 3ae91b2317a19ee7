"""The headless commands: one file each, and none of them pays for a screen."""
