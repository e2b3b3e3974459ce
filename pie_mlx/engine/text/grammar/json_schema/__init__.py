"""JSON Schemas made ready for a grammar engine. Each file mends or refuses one thing that an engine gets wrong."""
