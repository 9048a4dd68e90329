"""What dosdt raises: one line that names what is wrong, where, and what to do."""


class DOSDTError(Exception):
    """Base class of every error dosdt raises on purpose."""


class InputError(DOSDTError, ValueError):
    """Data, an option or a file that cannot be used as it is.

    It is a `ValueError`, as scikit-learn's conventions ask.
    """


class DataWarning(UserWarning):
    """Something in the data that was read in a way that whoever passed them may not expect."""
