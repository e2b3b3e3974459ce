"""`pie replay`"""
