"""The trainers that benchmarks/training.py compares, one module each, every one run on its own."""
