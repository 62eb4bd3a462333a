"""The demo on Spark: the query of ``cedr.hosts.demo`` as a stream, at three levels with one state.

Paper: Section 5.

    session    starts a small Spark, whose log goes to a file
    running    runs the query on the files that arrive, batch by batch
"""
