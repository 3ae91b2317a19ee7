"""What the screen knows of the engine: news as they come, and what is read when someone looks."""
