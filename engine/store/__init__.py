"""The SQLite store: journal, runs, events, transcript, artifacts, state, sessions and queue."""
