"""Programs in JavaScript and TypeScript: the Node that executes them, what it may read, and their sources."""
