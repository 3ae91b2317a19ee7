"""What happened, on disk: the journal, the runs and everything a person may look up afterwards."""
