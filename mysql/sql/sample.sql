-- Statements of samples: how much the cluster ran, every ten seconds of the last day.

-- name: sample_now
-- Reads the activity of the last whole bucket.
-- Inputs: none.
-- Output: bucket, jobs started in it, jobs that run now.
-- Locks: none.
select b.bucket, cast(coalesce((select sum(s.started) from {{starts}} s where s.bucket = b.bucket), 0) as signed), (select count(*) from {{running}})
from (select {{now}} div {{starts_bucket}} - 1 as bucket) b;

-- name: keep_sample
-- Stores a sample, unless its bucket has one.
-- Inputs: bucket, jobs started, jobs that run.
-- Output: none.
-- Locks: the inserted row.
insert ignore into {{sample}} (bucket, started, running) values (?, ?, ?);

-- name: forget_samples
-- Removes samples.
-- Inputs: the last bucket to remove.
-- Output: none.
-- Locks: the removed rows.
delete from {{sample}} where bucket <= ?;

-- name: samples
-- Lists samples, oldest first.
-- Inputs: first bucket, bucket after the last, limit.
-- Output: bucket, jobs started, jobs that ran.
-- Locks: none.
select bucket, started, running from {{sample}} force index (primary) where bucket >= ? and bucket < ? order by bucket limit ?;
