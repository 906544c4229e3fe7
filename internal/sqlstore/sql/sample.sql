-- Common statements of samples.

-- name: keep_sample
-- Stores a sample, unless its bucket has one.
-- Inputs: bucket, jobs started, jobs that run.
-- Output: none.
-- Locks: the inserted row.
insert into {{sample}} (bucket, started, running) values (?::bigint, ?::bigint, ?::bigint) on conflict do nothing;

-- name: forget_samples
-- Removes samples.
-- Inputs: the last bucket to remove.
-- Output: none.
-- Locks: the removed rows.
delete from {{sample}} where bucket <= ?::bigint;

-- name: samples
-- Lists samples, oldest first.
-- Inputs: first bucket, bucket after the last, limit.
-- Output: bucket, jobs started, jobs that ran.
-- Locks: none.
select bucket, started, running from {{sample}} /*! force index (primary) */ where bucket >= ?::bigint and bucket < ?::bigint order by bucket limit ?::int;
