"""Files that workers read themselves: JSON lines, CSV and Parquet, each a part of a file at a time, as columns.

values      texts as the values that Spark takes them for
times       whole numbers of a unit, and texts in a format, as microseconds
lines       parts of files of lines, and the lines that are not what they should be
json_lines  lines of JSON
csv_lines   lines of CSV
parquet     row groups of Parquet
reader      which of them reads a file
"""
