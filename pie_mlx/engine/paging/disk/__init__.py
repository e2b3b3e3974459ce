"""I keep pages on disk for the engines that come after this one, found by what they hold."""
