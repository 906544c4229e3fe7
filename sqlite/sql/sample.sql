-- Statements of samples: how much the cluster ran, every ten seconds of the last day.

-- name: sample_now
-- Reads the activity of the last whole bucket.
-- Inputs: none.  Output: bucket, jobs started in it, jobs that run now.  Locks: none.
select b.bucket, coalesce((select sum(started) from {{starts}} s where s.bucket = b.bucket), 0), (select count(*) from {{running}})
from (select {{now}} / {{starts_bucket}} - 1 as bucket) b;
