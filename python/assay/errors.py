class Error(Exception):
    """What a user asked for and cannot have; one line says why."""


class Skip(Exception):
    """Raised by a variant where the machine lacks something: its row is skipped, with the words."""
