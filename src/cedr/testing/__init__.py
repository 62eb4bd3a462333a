"""What a test of streams and queries needs, shipped with the package.

tables      history tables as text in the paper's own notation, read and written
difference  equality of tables, with a difference that can be read
strategies  Hypothesis strategies (needs the extra ``testing``)
"""
