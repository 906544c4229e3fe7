-- Statements of samples: how much the cluster ran, every ten seconds of the last day.

-- name: sample_now
-- Reads the activity of the last whole bucket.
-- Inputs: none.  Output: bucket, jobs started in it, jobs that run now.  Locks: none.
select b.bucket, coalesce((select sum(started) from {{starts}} s where s.bucket = b.bucket), 0), (select count(*) from {{running}})
from (select {{now}} / {{starts_bucket}} - 1 as bucket) b;

-- name: keep_sample
-- Stores a sample, unless its bucket has one.
-- Inputs: bucket, jobs started, jobs that run.  Output: none.  Locks: the writer's.
insert into {{sample}} (bucket, started, running) values (?, ?, ?) on conflict do nothing;

-- name: forget_samples
-- Removes samples.
-- Inputs: the last bucket to remove.  Output: none.  Locks: the writer's.
delete from {{sample}} where bucket <= ?;

-- name: samples
-- Lists samples, oldest first.
-- Inputs: first bucket, bucket after the last, limit.  Output: bucket, jobs started, jobs that
-- ran.
-- Locks: none.
select bucket, started, running from {{sample}} where bucket >= ? and bucket < ? order by bucket limit ?;
