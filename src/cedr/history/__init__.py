"""Tritemporal history: every change that an output has ever made, and what was believed at any CEDR time.

Paper: Section 4, Figure 2.  Reading: R24.  ``keeping`` is the sink that writes it, ``catalog`` knows the files,
``compaction`` makes few of many, and ``reading`` answers.
"""
