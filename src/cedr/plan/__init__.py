"""The logical plan: nodes, lowering from the language, predicate injection, rewrite rules, explain."""
