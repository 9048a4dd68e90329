"""The checker of certificates: it shares no code with the searches or the reduction, and never searches."""
