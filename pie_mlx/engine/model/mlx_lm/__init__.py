"""The only contact with mlx-lm's classes: its modules, paged caches, the head, and the number format of weights."""
