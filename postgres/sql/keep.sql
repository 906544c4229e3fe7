-- name: promote
-- Makes due scheduled jobs ready, earliest first; parks those that have a gate
-- and no place.
-- Inputs: $1 at most so many.
-- Output: lane, count.
-- Locks: the moved jobs, and shared their job rows, whose turn and start_by
--   another transaction may just have changed; passes over jobs locked by others.
with moved as materialized (
    delete from {{later}}
    where ctid = any (array(
        select ctid from {{later}} where not_before <= (select {{now}}) order by not_before, id limit $1::int for update skip locked))
    returning id, lane, attempt, failures, crashes
),
placed as materialized (
    select m.*, j.turn, j.start_by, case when (select true from {{admitted}} where gate = j.gate and id = m.id) is null then j.gate end as gate
    from moved m join {{job}} j on j.id = any (array[m.id])
    for share of j
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, turn, start_by, id, lane, attempt, failures, crashes from placed where gate is not null
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select distinct gate from parked
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, (crashes >= {{solo_after}})::int, turn, start_by, id, attempt, failures, crashes from placed where gate is null
)
select lane, count(*) from moved group by lane;

-- name: next_due
-- How long it is until the next scheduled job is due.
-- Output: microseconds, not negative; null if there is none.
-- Locks: none.
select case when min(not_before) is not null then greatest(min(not_before) - (select {{now}}), 0) end from {{later}};

-- name: mark_dead
-- Declares nodes dead whose lease has run out. Committed by itself before
-- anything is taken from them.
-- Output: how many.
-- Locks: those nodes.
with marked as (
    update {{node}} set dead = true where not dead and lease_until <= (select {{now}}) returning 1
)
select count(*) from marked;

-- name: reap
-- Takes jobs back from nodes that are dead or unknown. Each gets its crash
-- logged and becomes ready, or ends.
-- Inputs: $1 at most so many, $2 crashes that a job survives.
-- Output: lane, fate ('ready', 'poisoned' or 'cancelled'), count, how many of
--   them gave back slots.
-- Locks: the moved jobs, shared their job rows, keys of those that end; passes
--   over jobs locked by others.
with moved as materialized (
    delete from {{running}}
    where ctid = any (array(
        select r.ctid from {{running}} r
        where not exists (select from {{node}} n where n.id = r.node and not n.dead)
        limit $1::int
        for update of r skip locked))
    returning id, fence, node, started_at, lane, attempt, failures, least(crashes + 1, 32767) as crashes, wish, held
),
judged as materialized (
    select m.*, j.turn, j.start_by, j.job_key, j.flags,
           case when m.wish is not null or j.flags & 2 <> 0 then 'cancelled' when m.crashes > $2::int then 'poisoned' else 'ready' end as fate,
           'node ' || m.node || ' died' as story
    from moved m join {{job}} j on j.id = any (array[m.id])
    for share of j
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, (select {{now}}), 'crash', story from judged
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, (crashes >= {{solo_after}})::int, turn, start_by, id, attempt, failures, crashes from judged where fate = 'ready'
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, fence, node, started_at, (select {{now}}), lane, attempt, failures, crashes,
           case fate when 'poisoned' then 2 else 3 end,
           case when fate = 'poisoned' then 'poison' when wish is null then 'crash' end,
           case fate when 'poisoned' then 'it was running in ' || crashes || ' crashes without progress' else coalesce(wish, story) end
    from judged where fate <> 'ready'
),
freed as (
    delete from {{jobkey}} k
    using judged d, {{lane}} l
    where d.fate <> 'ready' and d.job_key is not null and d.flags & 1 = 0
      and l.id = any (array[d.lane]) and k.tenant = any (array[l.tenant]) and k.job_key = d.job_key and k.id = d.id
),
leaving as (select id from judged where fate <> 'ready'),
{{depart}},
vacated as ({{vacate}})
select lane, fate, count(*), count(held) from judged group by lane, fate;

-- name: expire
-- Fails waiting jobs whose deadline has passed.
-- Inputs: $1 at most so many.
-- Output: how many, and how many of them gave back slots.
-- Locks: the moved jobs, their keys; passes over jobs locked by others.
with moved as materialized (
    delete from {{waiting}}
    where ctid = any (array(
        select ctid from {{waiting}} where deadline < (select {{now}}) order by deadline, id limit $1::int for update skip locked))
    returning id, fence, node, started_at, lane, attempt, least(failures + 1, 32767) as failures, crashes, held
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, fence, node, started_at, (select {{now}}), lane, attempt, failures, crashes, 2, 'deadline', 'no answer came before the deadline' from moved
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, (select {{now}}), 'deadline', 'no answer came before the deadline' from moved
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
leaving as (select id from moved),
{{depart}},
vacated as ({{vacate}})
select count(*), count(held) from moved;

-- name: prune_window
-- Looks at the next finished jobs in the order of their ids.
-- Inputs: $1 id after which to begin, $2 at most so many.
-- Output: how many there are, the last id, the earliest finished_at, and the
--   database's clock.
-- Locks: none.
select count(*), coalesce(max(id), 0), coalesce(min(finished_at), 0), {{now}}
from (select id, finished_at from {{done}} where id > $1::bigint order by id limit $2::int) w;

-- name: prune_successes
-- Takes succeeded jobs that are old enough out of their place, to be forgotten.
-- Deletes only what it has locked, so that a job that is being re-opened stays.
-- Inputs: $1 at most so many, $2 finished before, $3 id after which to begin,
--   $4 last id.
-- Output: ids.
-- Locks: the deleted rows; passes over jobs locked by others.
delete from {{done}}
where ctid = any (array(
    select ctid from {{done}} where id > $3::bigint and id <= $4::bigint and outcome = 1 and finished_at < $2::bigint
    order by id limit $1::int for update skip locked))
returning id;

-- name: prune_others
-- As prune_successes, for all jobs of another outcome.
-- Inputs: $1 at most so many, $2 retention in microseconds, $3 outcome.
-- Output, locks: as prune_successes.
delete from {{done}}
where ctid = any (array(
    select ctid from {{done}} where outcome = $3::smallint and outcome <> 1 and finished_at < (select {{now}}) - $2::bigint
    order by outcome, finished_at limit $1::int for update skip locked))
returning id;

-- name: prune_nodes
-- Forgets nodes that have long been dead and hold nothing any more.
-- Inputs: $1 microseconds since the last beat.
-- Locks: the deleted rows.
delete from {{node}} n
where (n.dead or n.lease_until <= (select {{now}})) and n.last_beat < (select {{now}}) - $1::bigint
  and not exists (select from {{running}} r where r.node = n.id);

-- name: prune_once
-- Forgets the oldest requests that need not be remembered any more.
-- Inputs: $1 at most so many, $2 microseconds.
-- Output: how many.
-- Locks: the deleted rows; passes over rows locked by others.
with gone as (
    delete from {{once}}
    where ctid = any (array(
        select ctid from {{once}} where created_at <= (select {{now}}) - $2::bigint
        order by created_at limit $1::int for update skip locked))
    returning 1
)
select count(*) from gone;

-- name: prune_audit
-- Removes the oldest entries of the audit log.
-- Inputs: $1 at most so many, $2 microseconds.
-- Output, locks: as prune_once.
with gone as (
    delete from {{audit}}
    where ctid = any (array(
        select ctid from {{audit}} where at < (select {{now}}) - $2::bigint
        order by at limit $1::int for update skip locked))
    returning 1
)
select count(*) from gone;
