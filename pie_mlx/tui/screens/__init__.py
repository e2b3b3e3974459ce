"""The screens, each with its own stylesheet. They know the monitor they are shown on, not the application."""
