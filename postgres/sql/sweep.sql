-- name: lock_sweep
-- Keeps other transactions from steering a sweep.
-- Inputs: $1 id.
-- Output: what ScanSweep in internal/sqlstore reads, if it exists.
-- Locks: the sweep; waits for others.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} where id = $1::bigint for no key update;

-- name: try_sweep
-- As lock_sweep, but it does not wait: there is no output if another has the lock.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} where id = $1::bigint for no key update skip locked;

-- name: drop_sweep_logs
-- Removes the lines about a sweep.
-- Inputs: $1 sweep, locked.
-- Locks: the deleted rows.
delete from {{sweep_log}} where sweep = $1::bigint;

-- name: drop_sweep_events
-- Removes the history of a sweep.
-- Inputs: $1 sweep, locked.
-- Locks: the deleted rows.
delete from {{sweep_event}} where sweep = $1::bigint;

-- name: sweeps
-- Lists sweeps, newest first, with the sums of what their shards have stored.
-- Inputs: $1 id below which to begin, $2 at most so many, $3 ids, $4 names, $5 states,
--   $6 tenants; null for all.
-- Output: what ScanSweep in internal/sqlstore reads, then what ScanSums does, but for
--   the sweep.
-- Locks: none.
select w.id, w.name, w.tenant, w.state, w.version, w.created_at, w.body, w.status,
       p.total, p.marked, p.done, p.abandoned, p.again, p.errors, p.in_window, p.measured
from ({{choice}}) a
cross join lateral (select * from {{sweep}} where id = a.id offset 0) w
cross join lateral (
    select coalesce(sum(case when to_index > 0 then to_index - from_index end), 0)::bigint as total,
           coalesce(sum(mark - behind - from_index), 0)::bigint as marked, coalesce(sum(done), 0)::bigint as done,
           coalesce(sum(abandoned), 0)::bigint as abandoned, coalesce(sum(again), 0)::bigint as again, coalesce(sum(errors), 0)::bigint as errors,
           coalesce(sum(greatest(0, done + abandoned - (mark - behind - from_index))), 0)::bigint as in_window,
           coalesce(sum(measured) filter (where not ended), 0) as measured
    from {{shard_progress}} where sweep = w.id
) p
order by w.id desc;

-- name: sweeps_by_id
-- A part of sweeps: looks them up by id.
-- Locks: none.
select w.id
from unnest($3::bigint[]) as a (id)
cross join lateral (select id, name, state, tenant from {{sweep}} where id = a.id offset 0) w
where w.id < $1::bigint and ($4::text[] is null or w.name = any ($4::text[]))
  and ($5::text[] is null or w.state = any ($5::text[])) and ($6::text[] is null or w.tenant = any ($6::text[]))
order by w.id desc limit $2::int;

-- name: sweeps_by_name
-- A part of sweeps: looks them up by name.
-- Locks: none.
select w.id
from unnest($4::text[]) as a (name)
cross join lateral (select id, state, tenant from {{sweep}} where name = a.name offset 0) w
where w.id < $1::bigint and $3::bigint[] is null
  and ($5::text[] is null or w.state = any ($5::text[])) and ($6::text[] is null or w.tenant = any ($6::text[]))
order by w.id desc limit $2::int;

-- name: sweeps_by_state
-- A part of sweeps: those in some states.
-- Locks: none.
select w.id
from unnest($5::text[]) as a (state)
cross join lateral (
    select id from {{sweep}} s
    where s.state = a.state and s.state <> '' and s.id < $1::bigint and $3::bigint[] is null and $4::text[] is null
      and ($6::text[] is null or s.tenant = any ($6::text[]))
    order by s.state desc, s.id desc limit $2::int
) w
order by w.id desc limit $2::int;

-- name: sweeps_by_tenant
-- A part of sweeps: those of tenants.
-- Locks: none.
select w.id
from unnest($6::text[]) as a (tenant)
cross join lateral (
    select id from {{sweep}} s
    where s.tenant = a.tenant and s.tenant <> '' and s.id < $1::bigint and $3::bigint[] is null and $4::text[] is null and $5::text[] is null
    order by s.tenant desc, s.id desc limit $2::int
) w
order by w.id desc limit $2::int;

-- name: sweeps_of_all
-- A part of sweeps: all of them.
-- Locks: none.
select s.id from {{sweep}} s
where s.id < $1::bigint and $3::bigint[] is null and $4::text[] is null and $5::text[] is null and $6::text[] is null
order by s.id desc limit $2::int;

-- name: shards
-- The shards of a sweep.
-- Inputs: $1 sweep.
-- Output: what ScanShard in internal/sqlstore reads, in order.
-- Locks: none.
select s.sweep, s.number, p.from_index, p.to_index, s.job, p.ended, p.mark, p.bits, p.pending, p.done, p.abandoned, p.again, p.errors, p.source,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, s.peak_rate, s.peak_slots,
       p.used_rate, p.used_slots, p.told, p.fence, p.saved_at, p.measured, p.behind
from {{shard}} s
cross join lateral (select * from {{shard_progress}} where sweep = s.sweep and number = s.number offset 0) p
where s.sweep = $1::bigint
order by s.sweep, s.number;

-- name: shards_and_states
-- The shards of a sweep, with the states of their jobs.
-- Inputs: $1 sweep.
-- Output: as shards, then the state, empty if there is no job.
-- Locks: none.
select f.sweep, f.number, b.from_index, b.to_index, f.job, b.ended, b.mark, b.bits, b.pending, b.done, b.abandoned, b.again, b.errors, b.source,
       f.share_rate, f.share_slots, f.share_number, f.share_fence, f.peak_rate, f.peak_slots,
       b.used_rate, b.used_slots, b.told, b.fence, b.saved_at, b.measured, b.behind, p.state
from {{shard}} f
cross join lateral (select * from {{shard_progress}} where sweep = f.sweep and number = f.number offset 0) b
{{whereabouts}}
where f.sweep = $1::bigint
order by f.sweep, f.number;

-- name: drop_shards
-- Removes what is steered of the shards of a sweep.
-- Inputs: $1 sweep, locked.
-- Locks: the deleted rows.
delete from {{shard}} where sweep = $1::bigint;

-- name: drop_progress
-- Removes how far the shards of a sweep have come.
-- Inputs: $1 sweep, locked.
-- Locks: the deleted rows.
delete from {{shard_progress}} where sweep = $1::bigint;

-- name: add_shards
-- Stores what is steered of new shards.
-- Inputs, in step: $1 sweeps, locked, $2 numbers.
-- Locks: inserted rows.
insert into {{shard}} (sweep, number) select a.sweep, a.number from unnest($1::bigint[], $2::int[]) as a (sweep, number);

-- name: add_progress
-- Stores how far new shards have come.
-- Inputs, in step: $1 sweeps, locked, $2 numbers, $3 from_index, $4 to_index, $5 marks,
--   $6 whether they have ended, $7 done, $8 abandoned, $9 again, $10 errors, $11 bits,
--   $12 pending, $13 source, $14 behind.
-- Locks: inserted rows.
insert into {{shard_progress}} (sweep, number, from_index, to_index, mark, ended, done, abandoned, again, errors, bits, pending, source, behind)
select a.*
from unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bool[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::json[], $13::json[], $14::bigint[])
  as a (sweep, number, from_index, to_index, mark, ended, done, abandoned, again, errors, bits, pending, source, behind);

-- name: grant_shares
-- Stores shares of shards, each under its next number.
-- Inputs, in step: $1 sweeps, locked, $2 numbers, $3 rates, $4 slots, $5 fences, $6 rates
--   and $7 slots of the peaks.
-- Locks: what is steered of the shards.
update {{shard}} s
set share_rate = a.rate, share_slots = a.slots, share_fence = a.fence, peak_rate = a.peak_rate, peak_slots = a.peak_slots, share_number = s.share_number + 1
from unnest($1::bigint[], $2::int[], $3::float8[], $4::int[], $5::bigint[], $6::float8[], $7::int[]) as a (sweep, number, rate, slots, fence, peak_rate, peak_slots)
where s.sweep = any (array[a.sweep]) and s.number = any (array[a.number]);

-- name: employ
-- Gives shards their jobs.
-- Inputs, in step: $1 sweeps, locked, $2 numbers, $3 jobs.
-- Locks: what is steered of the shards.
update {{shard}} s set job = a.job
from unnest($1::bigint[], $2::int[], $3::bigint[]) as a (sweep, number, job)
where s.sweep = any (array[a.sweep]) and s.number = any (array[a.number]);

-- name: checkpoint
-- Keeps how far the run of a shard has come, and reads what it is to do. It
-- neither sees nor waits for a transaction that steers the sweep meanwhile.
-- Inputs: $1 sweep, $2 number, $3 job, $4 fence, $5 mark, $6 bits, $7 pending, $8 source,
--   null if it is as it was, $9 done, $10 abandoned, $11 errors, $12 measured,
--   $13 used_rate, $14 used_slots, $15 ended, $16 to_index or 0, $17 again, $18 indexes of
--   failed items that were done; of items that failed, in step: $19 indexes,
--   each once, $20 attempts, $21 errors, $22 times, 0 for now; $23 behind.
-- Output: what ScanSweep in internal/sqlstore reads, share_rate, share_slots and
--   share_fence, whether it was kept, and what the other shards have done and
--   abandoned, without what waits to be tried again; no row if the lease was lost.
-- Locks: the job, as save does; what the run has stored; those items.
with held as materialized (
    update {{running}} set crashes = 0 where id = $3::bigint and fence = $4::bigint returning id
),
steered as materialized (
    select s.share_rate, s.share_slots, s.share_number, s.share_fence
    from held h
    cross join lateral (select * from {{shard}} where sweep = $1::bigint and number = $2::int offset 0) s
    where s.job = h.id
),
kept as (
    update {{shard_progress}} p
    set mark = $5::bigint, bits = $6::bytea, pending = $7::json, source = coalesce($8::json, p.source), done = $9::bigint, abandoned = $10::bigint,
        again = case when $15::bool then 0 else $17::bigint end, errors = $11::bigint, measured = $12::float8, used_rate = $13::float8, used_slots = $14::int, ended = $15::bool, told = s.share_number,
        fence = $4::bigint, saved_at = {{now}}, behind = $23::bigint, to_index = case p.to_index when 0 then $16::bigint else p.to_index end
    from steered s
    where p.sweep = $1::bigint and p.number = $2::int and p.mark <= $5::bigint
    returning p.number, p.from_index, p.to_index
),
forgotten as (
    delete from {{failed_item}} f using kept k where f.sweep = $1::bigint and f.idx = any ($18::bigint[])
),
noted as (
    insert into {{failed_item}} as f (sweep, idx, at, attempts, error)
    select $1::bigint, a.idx, case a.at when 0 then {{now}} else a.at end, a.attempts, a.error
    from kept k, unnest($19::bigint[], $20::int[], $21::text[], $22::bigint[]) as a (idx, attempts, error, at)
    on conflict (sweep, idx) do update set at = excluded.at, attempts = excluded.attempts, error = excluded.error, again = false
),
left_alone as (
    update {{failed_item}} f set again = false
    from kept k
    where $15::bool and f.sweep = $1::bigint and f.again and f.idx >= k.from_index
      and f.idx < case k.to_index when 0 then 9223372036854775807 else k.to_index end
      and f.idx <> all ($18::bigint[]) and f.idx <> all ($19::bigint[])
)
select w.id, w.name, w.tenant, w.state, w.version, w.created_at, w.body, w.status,
       s.share_rate, s.share_slots, s.share_fence, (select true from kept) is not null, b.done, b.abandoned
from steered s
cross join lateral (select * from {{sweep}} where id = $1::bigint offset 0) w
cross join lateral (
    select coalesce(sum(done), 0)::bigint as done, coalesce(sum(abandoned - again), 0)::bigint as abandoned
    from {{shard_progress}} where sweep = $1::bigint and number <> $2::int
) b;

-- name: missing_sweeps
-- Finds sweeps that do not exist.
-- Inputs: $1 ids.
-- Output: id of those.
-- Locks: none.
select a.id
from unnest($1::bigint[]) as a (id)
left join lateral (select true as known from {{sweep}} where id = a.id offset 0) w on true
where w.known is null;

-- name: items_again
-- Items that wait to be tried again.
-- Inputs, output, locks: as failed_items.
select sweep, idx, attempts, error, at, again from {{failed_item}}
where sweep = $1::bigint and idx >= $2::bigint and idx < $3::bigint and again
order by sweep, idx limit $4::int;

-- name: retry_failed
-- Lets failed items wait to be tried again.
-- Inputs: $1 sweep, locked, $2 indexes.
-- Locks: the items.
update {{failed_item}} set again = true where sweep = $1::bigint and not again and idx = any ($2::bigint[]);

-- name: retry_all_failed
-- Lets all failed items of a sweep wait to be tried again.
-- Inputs: $1 sweep, locked.
-- Locks: the items.
update {{failed_item}} set again = true where sweep = $1::bigint and not again;

-- name: count_again
-- Counts what waits to be tried again between two indexes.
-- Inputs: $1 sweep, $2 index to begin with, $3 index to end before.
-- Output: the number.
-- Locks: none.
select count(*) from {{failed_item}} where sweep = $1::bigint and idx >= $2::bigint and idx < $3::bigint and again;

-- name: drop_failed
-- Forgets all failed items of a sweep.
-- Inputs: $1 sweep, locked.
-- Locks: the deleted rows.
delete from {{failed_item}} where sweep = $1::bigint;

-- name: add_sweep_logs
-- Stores lines, if all their sweeps exist: it is sent before missing_sweeps is answered.
-- Inputs, in step: $1 sweeps, $2 indexes, $3 levels, $4 texts.
-- Locks: inserted rows; the sweeps, shared, which keeps them from being deleted and does
--   not wait for the node that steers them.
with owners as materialized (
    select id from {{sweep}} where id = any ($1::bigint[]) order by id for key share
)
insert into {{sweep_log}} (sweep, idx, at, level, text)
select a.sweep, a.idx, {{now}}, a.level, a.text
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) with ordinality as a (sweep, idx, level, text, position)
where (select count(*) from owners) = (select count(distinct id) from unnest($1::bigint[]) as s (id))
order by a.position;

-- name: level_logs
-- Lines of a level about a sweep, newest first.
-- Inputs: $1 sweep, $2 level, $3 id below which to begin, $4 at most so many.
-- Output: as sweep_logs.
-- Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}}
where sweep = $1::bigint and level = $2::text and id < $3::bigint
order by sweep desc, level desc, id desc limit $4::int;

-- name: old_sweep_logs
-- Finds old lines of sweeps that have finished. Whether a sweep has any is told by its
-- first.
-- Inputs: $1 microseconds, $2 at most so many.
-- Output: id.
-- Locks: none.
select l.id
from (
    select w.id from {{sweep}} w
    where w.state = 'finished' and w.state <> ''
      and (select f.at from {{sweep_log}} f where f.sweep = w.id order by f.sweep, f.id limit 1) < (select {{now}}) - $1::bigint
    offset 0
) w
cross join lateral (select id, at from {{sweep_log}} where sweep = w.id order by sweep, id limit $2::int) l
where l.at < (select {{now}}) - $1::bigint
limit $2::int;

-- name: drop_logs
-- Removes lines.
-- Inputs: $1 ids.
-- Locks: the deleted rows.
delete from {{sweep_log}} where id = any ($1::bigint[]);

-- name: old_sweep_events
-- Finds what happened long ago to sweeps that have finished.
-- Inputs, output, locks: as old_sweep_logs.
select e.id
from (
    select w.id from {{sweep}} w
    where w.state = 'finished' and w.state <> ''
      and (select f.at from {{sweep_event}} f where f.sweep = w.id order by f.sweep, f.id limit 1) < (select {{now}}) - $1::bigint
    offset 0
) w
cross join lateral (select id, at from {{sweep_event}} where sweep = w.id order by sweep, id limit $2::int) e
where e.at < (select {{now}}) - $1::bigint
limit $2::int;

-- name: drop_events
-- Removes events.
-- Inputs: $1 ids.
-- Locks: the deleted rows.
delete from {{sweep_event}} where id = any ($1::bigint[]);

-- name: drop_sweep_items
-- Removes the list of a sweep.
-- Inputs: $1 sweep, locked or new.
-- Locks: the deleted rows.
delete from {{sweep_item}} where sweep = $1::bigint;
