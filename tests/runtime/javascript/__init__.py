"""Programs in JavaScript, in real Node workers."""
