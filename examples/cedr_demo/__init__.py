"""The demo: machine events that arrive out of order, one query, three levels side by side.

Paper: Section 3.1 (the query), Section 5, Figure 8 (what a level costs), Definitions 3 to 5 (what it promises).

    arriving   generated messages, cut into the files that arrive
    running    the standing query on these files, batch by batch, in this process
    watching   what each level emitted, retracted and why; what it cost; whether the oracle agrees
    account    what one level has emitted so far; agreement compares that of all levels with the oracle
    lanes      the history of one machine: what each level emitted about it, batch by batch
    screen     the last screen; closing has all figures, view draws both
    demo       the whole run; command chooses the host

``spark_session`` and ``spark_running`` run the same query on Spark.  This is an application: it imports ``cedr``, and
of ``cedr`` only the command ``cedr demo`` imports it.
"""
