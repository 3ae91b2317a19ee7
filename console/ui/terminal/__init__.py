"""The terminal as the console needs it: keys in order, pastes whole, another editor, colours."""
