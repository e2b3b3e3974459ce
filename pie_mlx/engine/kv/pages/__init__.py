"""Pages: their keys, the pool of page ids, the prefix trie, and images of pages kept outside of it."""
