"""`pie eval`"""
