-- Statements of samples: how much the cluster ran, every ten seconds of the last day.

-- name: sample_now
-- Reads the activity of the last whole bucket.
-- Output: bucket, jobs started in it, jobs that run now.
-- Locks: none.
select b.bucket, coalesce((select sum(started) from {{starts}} s where s.bucket = b.bucket), 0)::bigint, (select count(*) from {{running}})
from (select (select {{now}}) / {{starts_bucket}} - 1 as bucket) b;

-- name: keep_sample
-- Stores a sample, unless its bucket has one.
-- Inputs: $1 bucket, $2 jobs started, $3 jobs that run.
-- Locks: the inserted row.
insert into {{sample}} (bucket, started, running) values ($1::bigint, $2::bigint, $3::bigint) on conflict do nothing;

-- name: forget_samples
-- Removes samples.
-- Inputs: $1 the last bucket to remove.
-- Locks: the removed rows.
delete from {{sample}} where bucket <= $1::bigint;

-- name: samples
-- Lists samples, oldest first.
-- Inputs: $1 first bucket, $2 bucket after the last, $3 limit.
-- Output: bucket, jobs started, jobs that ran.
-- Locks: none.
select bucket, started, running from {{sample}} where bucket >= $1::bigint and bucket < $2::bigint order by bucket limit $3::int;
