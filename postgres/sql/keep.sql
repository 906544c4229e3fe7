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
-- Declares nodes dead whose lease has run out, and records the fences of the jobs that
-- each of them holds. It commits by itself before anything is taken from them.
--
-- A claim reads its node without a lock, so it may commit after this statement. Its jobs
-- do not start: the lease had ended at {{begun}}, which is before the snapshot of this
-- statement, and a claim that the snapshot does not show is answered after it. Reap
-- recognizes such a job by a fence that is not recorded here.
-- Output: how many.
-- Locks: those nodes. It reads running, without locks, only if a node dies.
with marked as (
    update {{node}} n set dead = true, held_fences = array(select distinct r.fence from {{running}} r where r.node = n.id)
    where not n.dead and n.lease_until <= (select {{begun}})
    returning 1
)
select count(*) from marked;

-- name: reap
-- Takes jobs back from nodes that are dead or unknown. Each gets its crash
-- logged and becomes ready, or ends. A job that would end as poison is left alone
-- while the node's process may still say that it lives. The nodes are locked, so
-- that lived either is seen here or sees what was counted here. A job of a late claim,
-- which committed after its node was marked dead, did not start: it gets no crash.
-- Inputs: $1 at most so many, $2 the crash that makes a job poison, $3 microseconds after
--   the end of its lease in which a process may say so.
-- Output: lane, fate ('ready', 'poisoned' or 'cancelled'), count, how many of
--   them gave back slots.
-- Locks: the moved jobs, shared their nodes and job rows, keys of those that end;
--   passes over jobs locked by others.
with moved as materialized (
    delete from {{running}}
    where ctid = any (array(
        select r.ctid from {{running}} r
        where not exists (select from {{node}} n where n.id = r.node and not n.dead)
          and not (r.crashes + 1 >= $2::int and r.wish is null and $3::bigint > 0
                   and exists (select from {{node}} n where n.id = r.node and not n.lived and n.lease_until > (select {{now}}) - $3::bigint
                                 and coalesce(r.fence = any (n.held_fences), true)))
        limit $1::int
        for update of r skip locked))
    returning id, fence, node, started_at, lane, attempt, failures, crashes, wish, held
),
holders as materialized (
    select id, lived, last_beat, held_fences from {{node}} where id = any (array(select distinct node from moved)) for share
),
known as materialized (
    select m.*, h.last_beat as heard, coalesce(h.lived, false) as lived, coalesce(m.fence <> all (h.held_fences), false) as late
    from moved m left join holders h on h.id = m.node
),
counted as materialized (
    select id, fence, node, started_at, lane, attempt, failures, wish, held, heard, late, not late and not lived as crashed,
           case when late or lived then crashes else least(crashes + 1, 32767) end as crashes
    from known
),
judged as materialized (
    select m.*, j.turn, j.start_by, j.job_key, j.flags,
           case when m.wish is not null or j.flags & 2 <> 0 and not m.late then 'cancelled' when m.crashes >= $2::int and m.crashed then 'poisoned' else 'ready' end as fate,
           'node ' || m.node || case
               when m.late then ' was marked dead before its claim committed; the job did not start'
               when not m.crashed then ' lost its lease but stayed alive'
               else ' died' || coalesce('; it was last heard of ' || to_char(timestamp 'epoch' + m.heard * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '')
           end as story
    from counted m join {{job}} j on j.id = any (array[m.id])
    for share of j
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, (select {{now}}), case when crashed then 'crash' else 'lease_lost' end, story from judged
),
noted as (
    insert into {{reaped}} (node, id, run, at)
    select node, id, attempt, (select {{now}}) from judged where fate = 'ready' and crashed
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
           case fate when 'poisoned' then 'it was running during ' || crashes || ' crashes without progress' else coalesce(wish, story) end
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

-- name: overdue
-- Lists waiting jobs whose deadline has passed, earliest first.
-- Inputs: $1 at most so many.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{waiting}} where deadline < (select {{now}}) order by deadline, id limit $1::int;

-- name: expire
-- Ends the waits of jobs whose deadline has passed. Those whose wait has a pause for
-- that are taken back for another run, the others fail.
-- Inputs, in step: $1 ids, $2 fences.
-- Output: lane, whether it gave back slots, whether it ended, whether it is ready now,
--   of the moved jobs.
-- Locks: the moved jobs, keys of those that end; shared, the job rows of those that are
--   due, as release; passes over jobs locked by others.
with moved as materialized (
    delete from {{waiting}}
    where ctid = any (array(
        select w.ctid from unnest($1::bigint[], $2::bigint[]) as a (id, fence)
        cross join lateral (
            select ctid from {{waiting}} where id = a.id and fence = a.fence and deadline < (select {{now}}) for update skip locked
        ) w))
    returning id, fence, node, started_at, lane, attempt, least(failures + 1, 32767) as failures, crashes, held, retry_after
),
clock as materialized (select {{now}} as now from (select count(*) from moved) after_locking),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, fence, node, started_at, now, lane, attempt, failures, crashes, 2, 'deadline', 'no answer arrived before the deadline'
    from moved, clock where retry_after < 0
),
postponed as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, now + retry_after, lane, attempt, failures, crashes from moved, clock where retry_after > 0
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select m.lane, (m.crashes >= {{solo_after}})::int, j.turn, j.start_by, m.id, m.attempt, m.failures, m.crashes
    from moved m join {{job}} j on j.id = any (array[m.id])
    where m.retry_after = 0
    for share of j
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, now, 'deadline', 'no answer arrived before the deadline' from moved, clock
),
leaving as materialized (select id from moved where retry_after < 0),
freed as (
    delete from {{jobkey}} k
    using leaving d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
{{depart}},
vacated as ({{vacate}})
select lane, held is not null, retry_after < 0, retry_after = 0 from moved;

-- name: prune_successes
-- Takes succeeded jobs that are old enough, and that none has still to see, out of
-- their place, to be forgotten, those first that ended first. Deletes only what it has
-- locked, so that a job that is being re-opened stays.
-- Inputs: $1 at most so many, $2 retention in microseconds, $3 the end from which
--   to look.
-- Output: ids, when each ended.
-- Locks: the deleted rows; passes over jobs locked by others.
delete from {{done}}
where ctid = any (array(
    select d.ctid from {{done}} d where d.outcome = 1 and d.finished_at >= $3::bigint and d.finished_at < (select {{now}}) - $2::bigint and {{unneeded}}
    order by d.finished_at limit $1::int for update of d skip locked))
returning id, finished_at;

-- name: prune_others
-- As prune_successes, for all jobs of another outcome.
-- Inputs: $1 at most so many, $2 retention in microseconds, $3 outcome.
-- Output, locks: as prune_successes.
delete from {{done}}
where ctid = any (array(
    select d.ctid from {{done}} d where d.outcome = $3::smallint and d.outcome <> 1 and d.finished_at < (select {{now}}) - $2::bigint and {{unneeded}}
    order by d.outcome, d.finished_at limit $1::int for update of d skip locked))
returning id, finished_at;

-- name: unneeded
-- A part of statements about a finished job d: whether no schedule, batch or sweep has
-- still to see how it ended. What says so is stored by the transaction that makes the
-- job, or that opens it again, and removed by the one that has seen the end: one
-- snapshot cannot show the job as finished without it.
-- Locks: none.
({{counting_batch}}) is null
and (select true from {{fire}} f
     where f.job = d.id and (select true from {{open_fire}} o where o.schedule = f.schedule and o.job = f.job)
       and (select deleted_at = 0 from {{schedule}} s where s.id = f.schedule)) is null
and ({{running_sweep}}) is null;

-- name: counting_batch
-- A part of statements about a job d: the batch that has still to count how this task
-- of it ends. Ranges of ids are never shared: only the chunk that begins last, at or
-- before the id, can hold it. Its marks begin with how each task stands, after {"s":";
-- operators of JSON would fail if any text in them has a zero.
-- Output: batch, null if there is none.
-- Locks: none.
select case when d.id < p.first_job + p.size and substr(p.marks::text, (d.id - p.first_job)::int + 7, 1) = 'o' then
         (select b.id from {{batch}} b where b.id = p.batch and b.open) end
from {{part}} p
where p.any_out and p.first_job <> 0 and p.first_job <= d.id
order by p.first_job desc
limit 1;

-- name: running_sweep
-- A part of statements about a job d: the sweep that runs and of which the job goes
-- over a shard that has not ended.
-- Output: sweep, null if there is none.
-- Locks: none.
select s.sweep
from {{shard}} s
where s.job = d.id and s.job <> 0
  and (select true from {{sweep}} w where w.id = s.sweep and w.state = 'running')
  and (select true from {{shard_progress}} g where g.sweep = s.sweep and g.number = s.number and not g.ended)
limit 1;

-- name: prune_nodes
-- Forgets nodes that have long been dead and hold nothing any more.
-- Inputs: $1 microseconds since the last beat.
-- Locks: the deleted rows.
delete from {{node}} n
where (n.dead or n.lease_until <= (select {{now}})) and n.last_beat < (select {{now}}) - $1::bigint
  and not exists (select from {{running}} r where r.node = n.id);

-- name: prune_reaped
-- Forgets crashes of nodes that have not said for long that they lived.
-- Inputs: $1 at most so many, $2 microseconds since they were counted.
-- Locks: the deleted rows; passes over rows locked by others.
delete from {{reaped}}
where ctid = any (array(
    select ctid from {{reaped}} where at < (select {{now}}) - $2::bigint order by at limit $1::int for update skip locked));

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

-- name: prune_limits
-- Removes what is left of limits that were removed, once no job counts against them any
-- more. What such jobs gave back at their ends, which no claim has folded, goes along. A
-- job that ends just now is seen to count, or to have given back. No job starts under a
-- limit that was removed; if it is just being set again, its row has changed and stays.
-- Locks: the deleted rows.
with removed as materialized (
    select id from {{quota}} where cap = 0 and minimum = 0 and rate = 0 and per_key = 0 and start_order = ''
),
held as materialized (
    select distinct unnest(string_to_array(h.held, ' '))::int as id
    from (select held from {{running}} where held is not null union select held from {{waiting}} where held is not null) h
    where exists (select from removed)
),
gone as (
    delete from {{quota}}
    where id = any (array(select id from removed except select id from held))
      and cap = 0 and minimum = 0 and rate = 0 and per_key = 0 and start_order = ''
    returning id
)
delete from {{quota_delta}} where quota = any (array(select id from gone));
