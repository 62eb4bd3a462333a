-- Each INSTALL with its first SHUTDOWN within 12 hours, by machine, as Flink SQL. {csv} and {out} are folders.

CREATE TABLE events (
    `kind` STRING, `machine` BIGINT, `ts` TIMESTAMP(3), `serial` BIGINT, `load` DOUBLE,
    WATERMARK FOR `ts` AS `ts`
) WITH ('connector' = 'filesystem', 'path' = '{csv}', 'format' = 'csv');

CREATE TABLE pairs (`machine` BIGINT, `install` BIGINT, `shutdown` BIGINT, `load` DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');

-- N is any row: the quantifier is reluctant, so a match ends at the first SHUTDOWN.
INSERT INTO pairs
SELECT `machine`, `install`, `shutdown`, `load`
FROM events
MATCH_RECOGNIZE (
    PARTITION BY `machine`
    ORDER BY `ts`
    MEASURES X.`serial` AS `install`, Y.`serial` AS `shutdown`, Y.`load` AS `load`
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (X N*? Y) WITHIN INTERVAL '12' HOUR
    DEFINE X AS X.`kind` = 'INSTALL', Y AS Y.`kind` = 'SHUTDOWN'
);
