"""The runner's side of the wire: all of it runs in the user's interpreter, on the standard library and pydantic."""
