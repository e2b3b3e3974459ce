"""A model's Jinja chat template, rendered in a process of its own."""
