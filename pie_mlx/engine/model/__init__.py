"""Turns plans into arrays and arrays into results. The only room of the engine with a model in it."""
