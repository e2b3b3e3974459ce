"""What every verb shows or asks on the terminal: errors, tables, questions, input, signals."""
