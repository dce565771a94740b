"""The models of the peers at the benchmark's sizes, one module each. The trainers begin with random
weights, the translators replace them by ours.
"""
