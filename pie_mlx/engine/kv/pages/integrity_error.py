"""The error of a store whose books do not balance."""


class IntegrityError(RuntimeError):
    """The page store contradicts itself or was used against its contract: a defect of the engine."""
