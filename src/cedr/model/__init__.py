"""The temporal stream model: times, events, messages, history tables, beliefs, levels.

Paper: Sections 2 and 4.  Nothing here but the standard library: no clock, no input and output.  The path of a message:

    stream      the three messages                       intake      accepted, or a dead letter
    sync        where a message bears on the state       lineage     what an insert and its retractions amount to
    event       a version of an event                    belief      which version is believed when
    history     the tables of Section 4 and their forms  equivalence Definitions 1 and 2
    schema      event types                              level       consistency levels as points (B, M)

What a query means on these is said in ``cedr.semantics``.
"""
