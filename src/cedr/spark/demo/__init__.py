"""The demo on Spark: the standing query of ``cedr.hosts.demo`` at three levels from one state.

Paper: Section 5.

    session    a small Spark of its own, whose log goes to a file
    running    the standing query on the files that arrive, batch by batch
"""
