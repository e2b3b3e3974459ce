"""Parts of screens. Each draws from values it is shown; none knows where they come from."""
