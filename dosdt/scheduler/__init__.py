"""What is known of the whole run: the incumbent, and what is left to do."""
