-- name: succeed
-- Ends running jobs of one claim as succeeded that have nothing to keep or to
-- give back.
-- Inputs: $1 fence, $2 ids.
-- Output: how many were moved, retrace tells which if it is not all; how many
--   of them gave back slots.
-- Locks: the moved jobs.
with moved as (
    delete from {{running}} where id = any ($2::bigint[]) and fence = $1::bigint
    returning id, node, started_at, lane, attempt, failures, crashes, held
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome)
    select id, $1::bigint, node, started_at, (select {{now}}), lane, attempt, failures, crashes, 1 from moved
),
vacated as ({{vacate}})
select count(*), count(held) from moved;

-- name: finish
-- Ends running jobs. A wish to cancel turns a drop into a plain cancel;
-- successes and failures keep their true outcome.
-- Inputs, in step: $1 ids, $2 fences, $3 outcomes, $4 reasons, $5 errors,
--   $6 outputs, $7 memos, $8 progress, $9 whether a key is to be given back.
-- Output: id, fence, whether a wish cancelled it and whether it gave back slots, of
--   the moved jobs.
-- Locks: the moved jobs, their keys.
with moved as materialized (
    delete from {{running}} r
    using unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::json[], $7::json[], $8::json[], $9::bool[])
        as a (id, fence, outcome, reason, error, output, memo, progress, free_key)
    where r.id = any (array[a.id]) and r.fence = a.fence
    returning r.id, r.fence, r.node, r.started_at, r.lane, r.attempt, r.failures, r.crashes, r.wish, r.held,
              a.outcome, a.reason, a.error, a.output, a.memo, a.progress, a.free_key, r.wish is not null and a.outcome = 3 as cancelled
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error, output)
    select id, fence, node, started_at, (select {{now}}), lane, attempt, least(failures + (outcome = 2)::int, 32767), crashes, outcome,
           case when not cancelled then reason end, case when cancelled then wish else error end, output
    from moved
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, (select {{now}}), coalesce(reason, ''), coalesce(error, '') from moved where outcome = 2
),
kept as (
    insert into {{memo}} as m (id, memo, progress)
    select id, memo, progress from moved where memo is not null or progress is not null
    on conflict (id) do update set memo = coalesce(excluded.memo, m.memo), progress = coalesce(excluded.progress, m.progress)
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where d.free_key and j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
vacated as ({{vacate}})
select id, fence, cancelled, held is not null from moved;

-- name: release
-- Takes running jobs back to wait for another run: later if they are not due
-- yet, else at once. A wish to cancel ends them instead.
-- Inputs, in step: $1 ids, $2 fences, $3 whether the run failed, $4 whether the
--   run does not count at all, $5 due time or 0, $6 microseconds until due,
--   $7 reasons, $8 errors, $9 memos, $10 progress, $11 whether the handler of a run that
--   does not count had begun.
-- Output: id, fence, lane, whether a wish cancelled it, whether it is ready now and
--   whether it gave back slots, of the moved jobs.
-- Locks: the moved jobs; shared, the job rows of those that are due, whose
--   turn and start_by another transaction may just have changed.
with moved as materialized (
    delete from {{running}} r
    using unnest($1::bigint[], $2::bigint[], $3::bool[], $4::bool[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::json[], $10::json[], $11::bool[])
        as a (id, fence, failed, unused, at, after, reason, error, memo, progress, begun)
    where r.id = any (array[a.id]) and r.fence = a.fence
    returning r.id, r.fence, r.node, r.started_at, r.lane, r.attempt - (a.unused and r.wish is null)::int as attempt,
              least(r.failures + (a.failed and r.wish is null)::int, 32767) as failures, r.crashes, r.wish, r.held, a.failed, a.unused, a.at, a.after, a.reason, a.error, a.memo, a.progress,
              a.begun
),
clock as materialized (select {{now}} as now from (select count(*) from moved) after_locking),
timed as materialized (
    select m.*, now, case when unused then 0 when at <> 0 then at else now + after end as due from moved m, clock
),
cancelled as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, error)
    select id, fence, node, started_at, now, lane, attempt, failures, crashes, 3, wish from timed where wish is not null
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where d.wish is not null and j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
postponed as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, due, lane, attempt, failures, crashes from timed where wish is null and due > now
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select t.lane, (t.crashes >= {{solo_after}})::int, j.turn, j.start_by, t.id, t.attempt, t.failures, t.crashes
    from timed t join {{job}} j on j.id = any (array[t.id])
    where t.wish is null and t.due <= t.now
    for share of j
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, now, coalesce(reason, ''), coalesce(error, '') from timed where failed and wish is null
),
kept as (
    insert into {{memo}} as m (id, memo, progress, released)
    select id, memo, progress, begun from moved where memo is not null or progress is not null or begun
    on conflict (id) do update
    set memo = coalesce(excluded.memo, m.memo), progress = coalesce(excluded.progress, m.progress), released = excluded.released or m.released
),
vacated as ({{vacate}})
select id, fence, lane, wish is not null, due <= now, held is not null from timed;

-- name: await
-- Lets running jobs wait for their answers. A wish to cancel ends them
-- instead. Jobs whose answer is there already are left for the caller to
-- settle by that answer. Those that wait keep their slots.
-- Inputs, in step: $1 ids, $2 fences, $3 microseconds until the deadline,
--   $4 memos, $5 progress, $6 microseconds until the next run if the wait fails, or -1.
-- Output: id, fence, whether a wish cancelled it and whether it gave back slots, of
--   the moved jobs.
-- Locks: the moved jobs, keys of the cancelled.
with moved as materialized (
    delete from {{running}} r
    using unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::json[], $5::json[], $6::bigint[]) as a (id, fence, after, memo, progress, retry_after)
    where r.id = any (array[a.id]) and r.fence = a.fence and r.answer is null
    returning r.id, r.fence, r.node, r.started_at, r.lane, r.attempt, r.failures, r.crashes, r.wish, a.after, a.memo, a.progress, a.retry_after,
              r.held as kept, case when r.wish is not null then r.held end as held
),
clock as materialized (select {{now}} as now from (select count(*) from moved) after_locking),
cancelled as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, error)
    select id, fence, node, started_at, now, lane, attempt, failures, crashes, 3, wish from moved, clock where wish is not null
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where d.wish is not null and j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
left_waiting as (
    insert into {{waiting}} (id, fence, node, started_at, deadline, lane, attempt, failures, crashes, held, retry_after)
    select id, fence, node, started_at, now + after, lane, attempt, failures, crashes, kept, retry_after from moved, clock where wish is null
),
kept as (
    insert into {{memo}} as m (id, memo, progress)
    select id, memo, progress from moved where memo is not null or progress is not null
    on conflict (id) do update set memo = coalesce(excluded.memo, m.memo), progress = coalesce(excluded.progress, m.progress)
),
vacated as ({{vacate}})
select id, fence, wish is not null, held is not null from moved;

-- name: early_answers
-- Reads the answers that overtook the move to waiting.
-- Inputs: $1 ids.
-- Output: id, fence to which it is an answer, answer.
-- Locks: none.
select r.id, r.fence, r.answer
from unnest($1::bigint[]) as a (id)
join {{running}} r on r.id = any (array[a.id])
where r.answer is not null;

-- name: retrace
-- Finds out which fences ended jobs. One that was taken from its node, for
-- another to take its place or because its node died, was not ended by its fence.
-- That the node died, or lost its lease, is recorded of the job's last run.
-- Inputs: $1 ids.
-- Output: id, fence, outcome of those that ended by their fence.
-- Locks: none.
select d.id, d.fence, d.outcome
from unnest($1::bigint[]) as a (id)
join {{done}} d on d.id = any (array[a.id])
where d.reason is distinct from 'replaced'
  and (select true from {{attempt}} x where x.id = d.id and x.run = d.attempt and x.reason in ('crash', 'lease_lost')) is null;

-- name: pass_over
-- Locks running jobs that no other transaction has locked, and returns the others. What
-- follows in the same transaction does not wait for a job that is not returned.
-- Inputs, in step: $1 ids, $2 fences.
-- Output: id, fence of the jobs that run under their fence and that another transaction
--   has locked.
-- Locks: the jobs that it does not return; passes over jobs locked by others.
with free as materialized (
    select r.id
    from unnest($1::bigint[], $2::bigint[]) as a (id, fence)
    join {{running}} r on r.id = any (array[a.id]) and r.fence = a.fence
    for update of r skip locked
)
select r.id, r.fence
from unnest($1::bigint[], $2::bigint[]) as a (id, fence)
join {{running}} r on r.id = any (array[a.id]) and r.fence = a.fence
where r.id not in (select id from free);

-- name: vacate
-- A part of every statement that takes jobs out of running or waiting: notes
-- which slots they gave back. What a job holds stands in its own row, so that a
-- statement which had to wait for the row has it right.
-- Inputs: held of moved.
-- Locks: inserted rows.
insert into {{quota_delta}} (quota, n)
select quota::int, sum(n)
from (select held, count(*) as n from moved where held is not null group by held) h, unnest(string_to_array(h.held, ' ')) as quota
group by quota;

-- name: save
-- Keeps memo and progress of a running job and forgets its crashes.
-- Inputs: $1 id, $2 fence, $3 memo or null, $4 progress or null.
-- Output: how many were kept: 1, or 0 if the fence is not current.
-- Locks: the job, its memo.
with held as materialized (
    update {{running}} set crashes = 0 where id = $1::bigint and fence = $2::bigint returning id
),
kept as (
    insert into {{memo}} as m (id, memo, progress)
    select id, $3::json, $4::json from held where $3 is not null or $4 is not null
    on conflict (id) do update set memo = coalesce(excluded.memo, m.memo), progress = coalesce(excluded.progress, m.progress)
)
select count(*) from held;
