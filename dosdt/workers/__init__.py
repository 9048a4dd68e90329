"""Who does the work: for now, this process."""
