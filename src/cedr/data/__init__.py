"""Data as people have it: files and data frames in, results out, in columns all the way.

Readings: R2 (what a row may leave out), R3 (messages), R50 (units of time).  The path of a row:

    words       which columns are the header of an event, and in what unit its times are
    files       which files a path names, and what format they have
    csv_files, json_files, parquet_files, frames
                columns of text or of values, each row with its place
    values      texts as values of one type; what does not fit is told, and its row is not used
    times       a column of times as integers, and whether they are timestamps or ticks
    sources     rows become batches of events, one for each type

    results     rows and changes of a query as Arrow tables
    writing     the same as files

Only names are imported here: a module is loaded by who needs it.
"""
