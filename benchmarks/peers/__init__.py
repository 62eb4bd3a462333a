"""The same query by others, over the same files: Flink SQL's MATCH_RECOGNIZE, DuckDB's as-of join.

They live in an environment of their own, ``.build/peers/venv``, made from ``requirements.lock`` beside this file: what
runs there (``flink_sql.py``, ``duckdb_asof.py``) imports nothing of ours.
"""
