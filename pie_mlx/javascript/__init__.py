"""What Node workers execute: `link/` talks to the engine. Package data, not imported by Python."""
