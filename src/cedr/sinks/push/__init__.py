"""Answers that are pushed: to a web service, a command, a function in Python; each message at least once.

``envelopes`` says which messages there are, ``outbox`` keeps them until they are delivered, ``sink`` delivers them.
"""
