"""What Node workers execute, in a real Node."""
