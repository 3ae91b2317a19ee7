"""What the app does when it is asked: one file for each part of it that can be asked for something."""
