"""The main job as a show: machine events that arrive out of order, one query on Spark, three levels side by side.

Paper: Section 3.1 (the query), Section 5, Figure 8 (what a level costs), Definitions 3 to 5 (what it promises).

    arriving   generated messages, cut into the files that arrive
    session    a small Spark of its own, whose log goes to a file
    running    the standing query on these files, batch by batch
    watching   what each level has said, took back and why; what it cost; whether all is as the oracle says

How it is drawn is told in ``cedr.cli``.
"""
