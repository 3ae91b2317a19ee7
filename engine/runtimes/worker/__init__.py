"""The runner's side of the wire. Runs in the user's interpreter with the standard library and pydantic."""
