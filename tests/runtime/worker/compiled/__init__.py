"""Tests of compiled components."""
