"""One Forward call: what it asks for, checked and prepared for the scheduler."""
