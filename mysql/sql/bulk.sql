-- Statements of bulks.

-- name: add_bulk
-- Stores a bulk.
-- Inputs: id, matched, whether there may be more, body.
-- Output: none.
-- Locks: the inserted row.
insert into {{bulk}} (id, created_at, started_at, finished_at, stopping, stopped, below, matched, more, done, missed, body)
values (?1, {{now}}, 0, 0, 0, 0, 0, ?2, ?3, 0, 0, ?4);

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

-- name: advance_bulk
-- Records how far a bulk has come, and whether that is its end.
-- Inputs: id, below, how many more jobs were acted upon, how many more were left, whether it ends, whether because it was asked to stop.
-- Output: none.
-- Locks: the bulk, locked before.
update {{bulk}}
set below = ?2, done = done + ?3, missed = missed + ?4, stopped = ?6,
    started_at = case when started_at = 0 then {{now}} else started_at end,
    finished_at = case when ?5 then {{now}} else 0 end
where id = ?1;

-- name: add_misses
-- Records jobs that a bulk has left as they were.
-- Inputs: rows of bulk, job, reason.
-- Output: none.
-- Locks: inserted rows.
insert into {{bulk_miss}} (bulk, job, why) values {{rows}}(?, ?, ?){{end}};

-- name: bulk_misses
-- Lists jobs that a bulk has left as they were, in the order in which it met them.
-- Inputs: bulk, the id below which to begin, limit.
-- Output: job, why.
-- Locks: none.
select job, why from {{bulk_miss}} where bulk = ?1 and job < ?2 order by job desc limit ?3;

-- name: stop_bulk
-- Asks a bulk to stop, unless it has ended.
-- Inputs: id.
-- Output: none; no row is hit if it is unknown or has ended.
-- Locks: the bulk; waits for its step.
update {{bulk}} set stopping = 1 where id = ?1 and finished_at = 0;

-- name: latest_ids
-- Looks at the jobs with the latest ids, and says whether one of them is dated now or later.
-- Inputs: how many ids.
-- Output: the last id, or 0, and how many of the jobs are dated so.
-- Locks: none.
select coalesce(max(id), 0), count(case when created_at >= {{now}} then 1 end)
from {{job}}
where id > (select max(id) from {{job}}) - ?1;

-- name: old_bulks
-- Finds bulks that have ended long ago.
-- Inputs: whether those that were stopped, age in microseconds, limit.
-- Output: id.
-- Locks: none.
select id from {{bulk}}
where stopped = ?1 and finished_at <> 0 and finished_at < {{now}} - ?2
limit ?3;

-- name: lone_bulks
-- Finds bulks that have not ended and whose jobs are gone.
-- Inputs: limit.
-- Output: id.
-- Locks: none.
select b.id from {{bulk}} b
where b.finished_at = 0 and not exists (select 1 from {{job}} j where j.id = b.id)
limit ?1;

-- name: drop_misses
-- Removes some of what is known of the jobs that a bulk has left as they were.
-- Inputs: bulk, limit.
-- Output: none.
-- Locks: the deleted rows.
delete from {{bulk_miss}} where bulk = ?1 limit ?2;

-- name: drop_bulk
-- Removes a bulk.
-- Inputs: id.
-- Output: none.
-- Locks: the deleted row.
delete from {{bulk}} where id = ?1;
