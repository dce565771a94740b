"""Builds what `data/` holds: lexicon and frames into pairs, speech levels, checks.

Drawing pairs needs no extra; what needs Korean morphology (kiwipiepy, the extra `corpus`) runs once
and its result is committed.
"""
