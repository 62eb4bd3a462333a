"""Traits: what each class of logical nodes says of itself, one record per class, with no defaults.

``record`` has the questions, ``registry`` the answers by class.  ``answers`` and ``pattern`` are answers that several
classes give; each other file has the records of one operator or of one family.
"""
