"""Readers of files for workers: JSON lines, CSV and Parquet, one part of a file at a time, as columns.

reader             chooses the reader of a file
lines              parts of files of lines, and the lines that cannot be read
json_lines         lines of JSON
csv_lines          lines of CSV
plain_csv          lines of CSV without quotes, with compiled loops (plain_csv_kernels)
parquet            row groups of Parquet
values             texts as values, by the rules of Spark
times              whole numbers of a unit, and texts in a format, as microseconds
"""
