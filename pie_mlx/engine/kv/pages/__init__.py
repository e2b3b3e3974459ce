"""Page ids, page keys, the prefix trie, and images of pages outside the pool. This folder knows no contexts."""
