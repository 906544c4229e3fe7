-- Statements of bulks.

-- name: bulks
-- Lists bulks, newest first, with how their jobs have ended.
-- Inputs: the smallest id, the largest, limit.
-- Output: the columns, whether there is a job, its outcome or 0, its end or 0, its error.
-- Locks: none.
select b.id, b.created_at, b.started_at, b.finished_at, b.stopping, b.stopped, b.below, b.matched, b.more, b.done, b.missed, b.body,
       j.id is not null, coalesce(d.outcome, 0), coalesce(d.finished_at, 0), coalesce(d.error, '')
from {{bulk}} b
left join {{job}} j force index (primary) on j.id = b.id
left join {{done}} d force index (primary) on d.id = b.id
where b.id >= ?1 and b.id <= ?2
order by b.id desc
limit ?3;

-- name: lock_bulk
-- Locks a bulk for a step, and says whether its job runs under a fence.
-- Inputs: id, fence.
-- Output: below, whether it has ended, whether it was asked to stop, body, whether the fence is that of the run.
-- Locks: the bulk.
select b.below, b.finished_at <> 0, b.stopping, b.body, exists (select 1 from {{running}} r where r.id = b.id and r.fence = ?2)
from {{bulk}} b
where b.id = ?1
for update;

-- name: add_misses
-- Records jobs that a bulk has left as they were.
-- Inputs: rows of bulk, job, reason.
-- Output: none.
-- Locks: inserted rows.
insert into {{bulk_miss}} (bulk, job, why) values {{rows}}(?, ?, ?){{end}};

-- name: drop_misses
-- Removes some of what is known of the jobs that a bulk has left as they were.
-- Inputs: bulk, limit.
-- Output: none.
-- Locks: the deleted rows.
delete from {{bulk_miss}} where bulk = ?1 limit ?2;
