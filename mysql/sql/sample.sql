-- Statements of samples: how much the cluster ran, every ten seconds of the last day.

-- name: sample_now
-- Reads the activity of the last whole bucket.
-- Inputs: none.
-- Output: bucket, jobs started in it, jobs that run now.
-- Locks: none.
select b.bucket, cast(coalesce((select sum(s.started) from {{starts}} s where s.bucket = b.bucket), 0) as signed), (select count(*) from {{running}})
from (select {{now}} div {{starts_bucket}} - 1 as bucket) b;
