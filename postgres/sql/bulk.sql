-- Statements of bulks.

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

-- name: add_misses
-- Records jobs that a bulk has left as they were.
-- Inputs, in step: $1 bulks, $2 jobs, $3 reasons.
-- Locks: inserted rows.
insert into {{bulk_miss}} (bulk, job, why) select * from unnest($1::bigint[], $2::bigint[], $3::text[]);

-- name: drop_misses
-- Removes some of what is known of the jobs that a bulk has left as they were.
-- Inputs: $1 bulk, $2 limit.
-- Locks: the deleted rows.
delete from {{bulk_miss}} where (bulk, job) in (select bulk, job from {{bulk_miss}} where bulk = $1::bigint limit $2::int);
