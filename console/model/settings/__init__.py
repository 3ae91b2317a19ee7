"""What a person may settle for themselves: keys, colours and letters."""
