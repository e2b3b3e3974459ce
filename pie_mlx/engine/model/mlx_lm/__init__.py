"""The contact with mlx-lm: its modules, its caches and their stand-ins, the head, the number format of weights."""
