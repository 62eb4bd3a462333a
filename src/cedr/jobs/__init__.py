"""Jobs: a file that says what runs, and the loop that runs it, exactly once, on the local host or on Spark.

``file`` reads the job file, ``checkpoint`` keeps what a job has done, ``loop`` is the job while it runs.
"""
