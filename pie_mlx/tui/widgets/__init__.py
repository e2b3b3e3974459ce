"""Parts of screens. Each draws the values it is given; none knows their source."""
