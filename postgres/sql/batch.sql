-- name: added_batch
-- Follows add_batch in its transaction: reads what the batch got.
-- Output: id, created_at.
-- Locks: none.
select id, created_at from {{batch}} where id = (select lastval());

-- name: share_batch
-- Keeps a batch from being removed.
-- Inputs: $1 id.
-- Output: id, if it exists.
-- Locks: the batch, shared; does not wait for a transaction that acts upon it.
select id from {{batch}} where id = $1::bigint for key share;

-- name: dwell
-- Follows pin in a transaction that acts upon a batch in several round trips: bounds
-- how long the server lets the transaction sit idle.
-- Output: to be ignored.
-- Locks: none.
, set_config('idle_in_transaction_session_timeout', '{{idle_limit}}', true);

-- name: dwell_briefly
-- Does what dwell does, and bounds how long each statement waits for what a caller's
-- transaction may hold.
-- Output: to be ignored.
-- Locks: none.
, set_config('idle_in_transaction_session_timeout', '{{idle_limit}}', true), set_config('lock_timeout', '100ms', true);

-- name: lock_batch
-- Lets no other transaction act upon a batch.
-- Inputs: $1 id.
-- Output: what ScanLockedBatch in internal/sqlstore reads, if it exists.
-- Locks: the batch; waits for other transactions. Chunks can be added meanwhile.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} where id = $1::bigint for no key update;

-- name: try_batch
-- As lock_batch, but it does not wait: there is no output if another transaction has the lock.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} where id = $1::bigint for no key update skip locked;

-- name: batch_clock
-- Follows lock_batch or try_batch: reads the clock under the lock.
-- Inputs: $1 id.
-- Output: the time, whether there is such a batch.
-- Locks: none.
select {{now}}, exists (select from {{batch}} where id = $1::bigint);

-- name: batches
-- Lists batches, newest first, with how many of their jobs run.
-- Inputs: $1 id below which to begin, $2 at most so many, $3 ids, $4 names,
--   $5 tenants, $6 types, $7 queues; null for all; $8 whether only open ones, $9 how
--   long Seen is told, in microseconds; $10 creators, $11 envs, $12 states; null for all.
-- Output: what ScanBatch in internal/sqlstore reads, whether Seen tells how many jobs
--   run, else how many do of passes forward, of those that retry and of those that roll
--   back.
-- Locks: none.
select b.id, b.name, b.type, b.queue, b.tenant, b.created_at, b.body, b.status, b.seen, r.forward, r.retry, r.undo
from ({{choice}}) a
cross join lateral (
    select *, coalesce({{now}} - extract(epoch from (status #>> '{Seen,At}')::timestamptz) * 1000000 between 0 and $9::bigint, false) as seen
    from {{batch}} where id = a.id offset 0
) b
cross join lateral (
    select count(*) filter (where p.kind = 'forward') as forward, count(*) filter (where p.kind = 'retry') as retry, count(*) filter (where p.kind = 'undo') as undo
    from (select kind, first_job, first_job + size - 1 as last_job from {{part}} where batch = b.id and any_out and not b.seen offset 0) p
    cross join lateral (
        select from {{running}} where id between p.first_job and p.last_job
        union all
        select from {{waiting}} where id between p.first_job and p.last_job
    ) j
) r
order by b.id desc;

-- name: batches_by_id
-- A part of batches: looks them up by id, those too whose tasks are not all stored.
-- Locks: none.
select b.id
from unnest($3::bigint[]) as a (id)
cross join lateral (select id, name, tenant, type, queue, open, state, body from {{batch}} where id = a.id offset 0) b
where b.id < $1::bigint and (b.open or not $8::bool)
  and ($4::text[] is null or b.name = any ($4::text[])) and ($5::text[] is null or b.tenant = any ($5::text[]))
  and ($6::text[] is null or b.type = any ($6::text[])) and ($7::text[] is null or b.queue = any ($7::text[]))
  and ($10::text[] is null or coalesce(b.body ->> 'creator', '') = any ($10::text[])) and ($11::text[] is null or coalesce(b.body ->> 'env', '') = any ($11::text[]))
  and ($12::text[] is null or b.state = any ($12::text[]))
order by b.id desc limit $2::int;

-- name: batches_open
-- A part of batches: those that are open.
-- Locks: none.
select b.id from {{batch}} b
where b.open and b.id < $1::bigint and $3::bigint[] is null and $8::bool
  and ($4::text[] is null or b.name = any ($4::text[])) and ($5::text[] is null or b.tenant = any ($5::text[]))
  and ($6::text[] is null or b.type = any ($6::text[])) and ($7::text[] is null or b.queue = any ($7::text[]))
  and ($10::text[] is null or coalesce(b.body ->> 'creator', '') = any ($10::text[])) and ($11::text[] is null or coalesce(b.body ->> 'env', '') = any ($11::text[]))
  and ($12::text[] is null or b.state = any ($12::text[]))
order by b.id desc limit $2::int;

-- name: batches_by_name
-- A part of batches: looks them up by name.
-- Locks: none.
select b.id
from unnest($4::text[]) as a (name)
cross join lateral (
    select id from {{batch}} b
    where b.name = a.name and b.id < $1::bigint and b.name <> '' and b.opened and $3::bigint[] is null and not $8::bool
      and ($5::text[] is null or b.tenant = any ($5::text[])) and ($6::text[] is null or b.type = any ($6::text[]))
      and ($7::text[] is null or b.queue = any ($7::text[]))
      and ($10::text[] is null or coalesce(b.body ->> 'creator', '') = any ($10::text[])) and ($11::text[] is null or coalesce(b.body ->> 'env', '') = any ($11::text[]))
      and ($12::text[] is null or b.state = any ($12::text[]))
    order by b.name desc, b.id desc limit $2::int
) b
order by b.id desc limit $2::int;

-- name: batches_by_tenant
-- A part of batches: those of tenants.
-- Locks: none.
select b.id
from unnest($5::text[]) as a (tenant)
cross join lateral (
    select id from {{batch}} b
    where b.tenant = a.tenant and b.id < $1::bigint and b.tenant <> '' and b.opened and $3::bigint[] is null and $4::text[] is null and not $8::bool
      and ($6::text[] is null or b.type = any ($6::text[])) and ($7::text[] is null or b.queue = any ($7::text[]))
      and ($10::text[] is null or coalesce(b.body ->> 'creator', '') = any ($10::text[])) and ($11::text[] is null or coalesce(b.body ->> 'env', '') = any ($11::text[]))
      and ($12::text[] is null or b.state = any ($12::text[]))
    order by b.tenant desc, b.id desc limit $2::int
) b
order by b.id desc limit $2::int;

-- name: batches_of_all
-- A part of batches: all of them.
-- Locks: none.
select b.id from {{batch}} b
where b.id < $1::bigint and b.opened and $3::bigint[] is null and $4::text[] is null and $5::text[] is null and not $8::bool
  and ($6::text[] is null or b.type = any ($6::text[])) and ($7::text[] is null or b.queue = any ($7::text[]))
  and ($10::text[] is null or coalesce(b.body ->> 'creator', '') = any ($10::text[])) and ($11::text[] is null or coalesce(b.body ->> 'env', '') = any ($11::text[]))
  and ($12::text[] is null or b.state = any ($12::text[]))
order by b.id desc limit $2::int;

-- name: add_chunks
-- Stores chunks. It fails if one of the numbers is taken.
-- Inputs, in step: $1 batches, locked by share_batch, $2 numbers, $3 passes, $4 kinds,
--   $5 first jobs, $6 sizes, $7 held, $8 out, $9 marks.
-- Locks: inserted rows.
insert into {{part}} (batch, number, pass, kind, first_job, size, held, out_, marks)
select n.batch, n.number, n.pass, n.kind, n.first_job, n.size, n.held, n.out_, n.marks
from unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::bigint[], $6::int[], $7::int[], $8::int[], $9::json[])
    as n (batch, number, pass, kind, first_job, size, held, out_, marks);

-- name: drop_chunks
-- Removes chunks of a batch, without their tasks.
-- Inputs: $1 batch, $2 numbers.
-- Locks: the deleted rows.
delete from {{part}} where batch = $1::bigint and number = any ($2::int[]);

-- name: drop_chunk_tasks
-- Removes what the tasks of chunks have to do.
-- Inputs: $1 batch, $2 numbers.
-- Locks: the deleted rows.
delete from {{part_task}} where batch = $1::bigint and number = any ($2::int[]);

-- name: save_chunks
-- Keeps how the tasks of chunks stand.
-- Inputs, in step: $1 batches, locked, $2 numbers, $3 held, $4 out, $5 marks.
-- Locks: the chunks.
update {{part}} p set held = n.held, out_ = n.out_, marks = n.marks
from unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::json[]) as n (batch, number, held, out_, marks)
where p.batch = any (array[n.batch]) and p.number = any (array[n.number]);

-- name: chunks
-- Parts of a batch, in the order of their numbers.
-- Inputs: $1 batch, $2 number after which to begin, $3 at most so many or null for
--   all, $4 kinds, $5 numbers or null, $6 whether only such with tasks that are held,
--   $7 the same of such that are out, $8 whether to read the tasks, $9 first jobs of
--   chunks whose tasks are known.
-- Output: what ScanChunk in internal/sqlstore reads; tasks is null if they are known
--   or not asked for.
-- Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first_job, p.size, p.held, p.out_, p.marks,
       case when $8::bool and p.first_job <> all ($9::bigint[]) then (select tasks from {{part_task}} where batch = p.batch and number = p.number) end
from ({{choice}}) p
order by p.number;

-- name: chunks_by_number
-- A part of chunks: looks them up by number.
-- Locks: none.
select p.*
from unnest($5::int[]) as a (number)
cross join lateral (select * from {{part}} where batch = $1::bigint and number = a.number offset 0) p
where p.number > $2::int and p.kind = any ($4::text[]) and (p.any_held or not $6::bool) and (p.any_out or not $7::bool)
order by p.number limit $3::int;

-- name: chunks_held
-- A part of chunks: those with tasks that are held.
-- Locks: none.
select p.*
from unnest($4::text[]) as k (kind)
cross join lateral (
    select * from {{part}}
    where batch = $1::bigint and kind = k.kind and number > $2::int and any_held and $5::int[] is null and $6::bool and (any_out or not $7::bool)
    order by batch, kind, number limit $3::int
) p
order by p.number limit $3::int;

-- name: chunks_out
-- A part of chunks: those with tasks that are out.
-- Locks: none.
select * from {{part}}
where batch = $1::bigint and number > $2::int and any_out and kind = any ($4::text[]) and $5::int[] is null and not $6::bool and $7::bool
order by batch, number limit $3::int;

-- name: chunks_of_all
-- A part of chunks: all of them.
-- Locks: none.
select * from {{part}}
where batch = $1::bigint and number > $2::int and kind = any ($4::text[]) and $5::int[] is null and not $6::bool and not $7::bool
order by batch, number limit $3::int;

-- name: ends_between
-- The ends of jobs of some ranges of ids.
-- Inputs, in step: $1 first ids, $2 last ids.
-- Output: id, fence, outcome, attempt, failures, crashes, reason (empty if there is none), finished_at.
-- Locks: none.
select d.id, d.fence, d.outcome, d.attempt, d.failures, d.crashes, coalesce(d.reason, ''), d.finished_at
from unnest($1::bigint[], $2::bigint[]) as r (first, last)
cross join lateral (select id, fence, outcome, attempt, failures, crashes, reason, finished_at from {{done}} where id between r.first and r.last offset 0) d;

-- name: ends_of
-- The ends of some jobs.
-- Inputs: $1 ids.
-- Output, locks: as ends_between.
select id, fence, outcome, attempt, failures, crashes, coalesce(reason, ''), finished_at from {{done}} where id = any ($1::bigint[]);

-- name: memos_between
-- The memos of jobs of some ranges of ids.
-- Inputs: as ends_between.
-- Output: id, memo or null, whether a run of it was released after its handler had begun.
-- Locks: none.
select m.id, m.memo, m.released
from unnest($1::bigint[], $2::bigint[]) as r (first, last)
cross join lateral (select id, memo, released from {{memo}} where id between r.first and r.last and (memo is not null or released) offset 0) m;

-- name: memos_of
-- The memos of some jobs.
-- Inputs: $1 ids.
-- Output, locks: as memos_between.
select id, memo, released from {{memo}} where id = any ($1::bigint[]) and (memo is not null or released);

-- name: recall
-- Takes jobs of a range of ids out of their places that are scheduled, ready or
-- parked and have never been started, to be forgotten. One that has a row in memo was
-- started, though its attempt number may have been given back: that row is written in
-- the transaction that releases it.
-- Inputs: $1 first id, $2 last id.
-- Output: ids, in order.
-- Locks: the jobs; passes over those locked by others.
with begun as materialized (select id from {{memo}} where id between $1::bigint and $2::bigint),
scheduled as (
    delete from {{later}}
    where ctid = any (array(select ctid from {{later}} where id between $1::bigint and $2::bigint and attempt = 0 and id <> all (array(select id from begun)) for update skip locked))
    returning id
),
parked as (
    delete from {{parked}}
    where ctid = any (array(
        select p.spot
        from (select gate, turn, start_by, id from {{job}} where id between $1::bigint and $2::bigint and gate is not null and id <> all (array(select id from begun)) offset 0) j
        cross join lateral (
            select ctid as spot from {{parked}}
            where gate = j.gate and turn = j.turn and start_by = j.start_by and id = j.id and attempt = 0
            for update skip locked
        ) p))
    returning id
),
ready as (
    delete from {{ready}}
    where ctid = any (array(
        select r.spot
        from (select lane, turn, start_by, id from {{job}} where id between $1::bigint and $2::bigint and id <> all (array(select id from begun)) offset 0) j
        cross join lateral (
            select ctid as spot from {{ready}}
            where lane = j.lane and solo in (0, 1) and turn = j.turn and start_by = j.start_by and id = j.id and attempt = 0
            for update skip locked
        ) r))
    returning id
)
select id from scheduled union all select id from parked union all select id from ready order by id;

-- name: delete_batch
-- Removes a batch, without its chunks.
-- Inputs: $1 id, locked.
-- Locks: the row; waits for transactions that add chunks.
delete from {{batch}} where id = $1::bigint;

-- name: drop_batch_chunks
-- Removes all chunks of a batch.
-- Inputs: $1 batch, locked.
-- Locks: the deleted rows.
delete from {{part}} where batch = $1::bigint;

-- name: drop_batch_tasks
-- Removes what the tasks of a batch have to do.
-- Inputs: $1 batch, locked.
-- Locks: the deleted rows.
delete from {{part_task}} where batch = $1::bigint;

-- name: prune_batch
-- Removes a batch that completed long ago, with all its chunks.
-- Inputs: $1 states, $2 retention in microseconds.
-- Output: its id, if there was one.
-- Locks: the deleted rows; passes over batches locked by others.
with gone as materialized (
    delete from {{batch}}
    where ctid = any (array(
        select b.spot
        from unnest($1::text[]) as s (state)
        cross join lateral (
            select ctid as spot from {{batch}}
            where state = s.state and ended_at <> 0 and ended_at < (select {{now}}) - $2::bigint
            order by state, ended_at limit 1 for update skip locked
        ) b
        limit 1))
    returning id, created_at, ended_at
),
late as (
    update {{id_mark}} m set latest = g.ended_at -- as late_ids
    from gone g
    where m.marked_at >= g.created_at - 300000000 and m.latest < g.ended_at
),
parts as (
    delete from {{part}} where batch = any (array(select id from gone))
),
tasks as (
    delete from {{part_task}} where batch = any (array(select id from gone))
)
select id from gone;

-- name: prune_unopened
-- As prune_batch, for batches whose tasks were never all stored.
-- Inputs: $1 microseconds since they were created.
-- Output, locks: as prune_batch.
with gone as materialized (
    delete from {{batch}}
    where ctid = any (array(
        select ctid from {{batch}} where not opened and created_at < (select {{now}}) - $1::bigint
        order by created_at limit 1 for update skip locked))
    returning id
),
parts as (
    delete from {{part}} where batch = any (array(select id from gone))
),
tasks as (
    delete from {{part_task}} where batch = any (array(select id from gone))
)
select id from gone;
