"""Programs and processes: from a file on disk to something that runs beside the model, apart from the others."""
