"""The translators that benchmarks/translating.py compares, one module each, all with the same
weights, every one run on its own.
"""
