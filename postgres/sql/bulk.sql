-- Statements of bulks.

-- name: add_bulk
-- Stores a bulk.
-- Inputs: $1 id, $2 matched, $3 whether there may be more, $4 body.
-- Locks: the inserted row.
insert into {{bulk}} (id, created_at, started_at, finished_at, stopping, stopped, below, matched, more, done, missed, body)
values ($1::bigint, {{now}}, 0, 0, false, false, 0, $2::bigint, $3::boolean, 0, 0, $4::json);

-- name: bulks
-- Lists bulks, newest first, with how their jobs have ended.
-- Inputs: $1 the smallest id, $2 the largest, $3 limit.
-- Output: the columns, whether there is a job, its outcome or 0, its end or 0, its error.
-- Locks: none.
select b.id, b.created_at, b.started_at, b.finished_at, b.stopping, b.stopped, b.below, b.matched, b.more, b.done, b.missed, b.body,
       j.id is not null, coalesce(d.outcome, 0), coalesce(d.finished_at, 0), coalesce(d.error, '')
from {{bulk}} b
left join {{job}} j on j.id = any (array[b.id])
left join {{done}} d on d.id = any (array[b.id])
where b.id >= $1::bigint and b.id <= $2::bigint
order by b.id desc
limit $3::int;

-- name: lock_bulk
-- Locks a bulk for a step, and says whether its job runs under a fence.
-- Inputs: $1 id, $2 fence.
-- Output: below, whether it has ended, whether it was asked to stop, body, whether the fence is that of the run.
-- Locks: the bulk.
select b.below, b.finished_at <> 0, b.stopping, b.body, exists (select 1 from {{running}} r where r.id = b.id and r.fence = $2::bigint)
from {{bulk}} b
where b.id = $1::bigint
for update of b;

-- name: advance_bulk
-- Records how far a bulk has come, and whether that is its end.
-- Inputs: $1 id, $2 below, $3 how many more jobs were acted upon, $4 how many more were left, $5 whether it ends, $6 whether because it was asked to stop.
-- Locks: the bulk, locked before.
update {{bulk}}
set below = $2::bigint, done = done + $3::bigint, missed = missed + $4::bigint, stopped = $6::boolean,
    started_at = case when started_at = 0 then {{now}} else started_at end,
    finished_at = case when $5::boolean then {{now}} else 0 end
where id = $1::bigint;

-- name: add_misses
-- Records jobs that a bulk has left as they were.
-- Inputs, in step: $1 bulks, $2 jobs, $3 reasons.
-- Locks: inserted rows.
insert into {{bulk_miss}} (bulk, job, why) select * from unnest($1::bigint[], $2::bigint[], $3::text[]);

-- name: bulk_misses
-- Lists jobs that a bulk has left as they were, in the order in which it met them.
-- Inputs: $1 bulk, $2 the id below which to begin, $3 limit.
-- Output: job, why.
-- Locks: none.
select job, why from {{bulk_miss}} where bulk = $1::bigint and job < $2::bigint order by job desc limit $3::int;

-- name: stop_bulk
-- Asks a bulk to stop, unless it has ended.
-- Inputs: $1 id.
-- Output: none; no row is hit if it is unknown or has ended.
-- Locks: the bulk; waits for its step.
update {{bulk}} set stopping = true where id = $1::bigint and finished_at = 0;

-- name: latest_ids
-- Looks at the jobs with the latest ids, and says whether one of them is dated now or later.
-- Inputs: $1 how many ids.
-- Output: the last id, or 0, and how many of the jobs are dated so.
-- Locks: none.
select coalesce(max(id), 0), count(case when created_at >= (select {{now}}) then 1 end)
from {{job}}
where id > (select max(id) from {{job}}) - $1::bigint;

-- name: old_bulks
-- Finds bulks that have ended long ago.
-- Inputs: $1 whether those that were stopped, $2 age in microseconds, $3 limit.
-- Output: id.
-- Locks: none.
select id from {{bulk}}
where stopped = $1::boolean and finished_at <> 0 and finished_at < (select {{now}}) - $2::bigint
limit $3::int;

-- name: lone_bulks
-- Finds bulks that have not ended and whose jobs are gone.
-- Inputs: $1 limit.
-- Output: id.
-- Locks: none.
select b.id from {{bulk}} b
where b.finished_at = 0 and not exists (select 1 from {{job}} j where j.id = b.id)
limit $1::int;

-- name: drop_misses
-- Removes some of what is known of the jobs that a bulk has left as they were.
-- Inputs: $1 bulk, $2 limit.
-- Locks: the deleted rows.
delete from {{bulk_miss}} where (bulk, job) in (select bulk, job from {{bulk_miss}} where bulk = $1::bigint limit $2::int);

-- name: drop_bulk
-- Removes a bulk.
-- Inputs: $1 id.
-- Locks: the deleted row.
delete from {{bulk}} where id = $1::bigint;
