"""`pie model`: the models on this disk, and those that could be."""
