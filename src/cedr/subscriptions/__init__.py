"""Filters on single events by the thousand: which subscriptions an event matches, by an index that inverts per batch.

Paper: Section 1 (data streams, event patterns and publish/subscribe).  Readings: R3, R4, R20.  ``filters`` reads a
predicate, ``templates`` keeps the constants of those that differ in nothing else, ``segments`` and ``kernels`` look
them up, ``router`` follows the beliefs of the engine, so that what is taken back is routed too.
"""
