"""Parts of screens. Each draws the values it gets; none knows their source."""
