"""The screens, each with a stylesheet of its own."""
