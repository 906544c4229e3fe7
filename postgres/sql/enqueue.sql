-- name: changed
-- A part of statements that store jobs: finds out whether the lanes and the server are
-- those that the caller knows. The database may have lost the commit that made a lane,
-- and have given its id to another; a lane that was given up takes no more jobs.
-- Inputs: $1 when the server was started, $2 its number; per lane: $3 ids, $4 queues,
--   $5 tenants, $6 kinds.
-- Output: the lanes of which one is not as it is known, 0 among them if the server is
--   another; null if all is well.
-- Locks: none.
changed as materialized (
    select string_agg(id::text, ' ') as lanes
    from (
        select k.id
        from unnest($3::int[], $4::text[], $5::text[], $6::text[]) as k (id, queue, tenant, kind)
        where (select true from {{lane}} where id = k.id and queue = k.queue and tenant = k.tenant and kind = k.kind and retired_at = 0) is null
        union all
        select 0 where pg_postmaster_start_time() <> $1::timestamptz or (select number from {{server}} where id = 1) <> $2::bigint
    ) differ
);

-- name: verdict
-- A part of statements that store jobs: tells of lanes that are not as they are known.
-- Nothing was stored then. It fails, so that the transaction is undone, unless that is
-- a caller's own.
-- Inputs: $7 whether to return them instead.
-- Output: the lanes.
-- Locks: none.
case when $7::boolean then lanes else ('changed lanes ' || lanes)::int::text end;

-- name: enqueue
-- Stores jobs that differ in nothing but id and args, and are due at once.
-- Inputs: $1 to $7 as changed and verdict; $8 ids, $9 args, in step; of all of them:
--   $10 start_by or 0, $11 lane, $12 turn, $13 flags, $14 policy, $15 trace.
-- Output: as verdict.
-- Locks: inserted rows.
with {{changed}},
clock as materialized (select {{now}} as now),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args)
    select u.id, case $10::bigint when 0 then now else $10::bigint end, 0, now, $11::int, $12::smallint, $13::smallint, $14::json, $15::text, u.args
    from clock, unnest($8::bigint[], $9::json[]) as u (id, args)
    where (select lanes from changed) is null
),
due as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select $11::int, 0, $12::smallint, case $10::bigint when 0 then now else $10::bigint end, u.id, 0, 0, 0
    from clock, unnest($8::bigint[]) as u (id)
    where (select lanes from changed) is null
)
select {{verdict}} from changed where lanes is not null;

-- name: enqueue_mixed
-- Stores any jobs without keys.
-- Inputs: $1 to $7 as changed and verdict; in step: $8 ids, $9 args, $10 start_by or 0,
--   $11 not_before or 0, $12 lanes, $13 turns, $14 flags, $15 policies, $16 traces,
--   $17 gates or 0.
-- Output: as verdict.
-- Locks: inserted rows.
with {{changed}},
clock as materialized (select {{now}} as now),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args, gate)
    select u.id, coalesce(nullif(u.start_by, 0), nullif(u.not_before, 0), now), u.not_before, now, u.lane, u.turn, u.flags, u.policy, u.trace, u.args, nullif(u.gate, 0)
    from clock, unnest($8::bigint[], $9::json[], $10::bigint[], $11::bigint[], $12::int[], $13::smallint[], $14::smallint[], $15::json[], $16::text[], $17::bigint[])
        as u (id, args, start_by, not_before, lane, turn, flags, policy, trace, gate)
    where (select lanes from changed) is null
    returning id, start_by, not_before, created_at, lane, turn, gate
),
scheduled as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, not_before, lane, 0, 0, 0 from stored where not_before > created_at
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, turn, start_by, id, lane, 0, 0, 0 from stored where not_before <= created_at and gate is not null
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select distinct gate from parked
),
due as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, 0, turn, start_by, id, 0, 0, 0 from stored where not_before <= created_at and gate is null
)
select {{verdict}} from changed where lanes is not null;

-- name: enqueue_keyed
-- Stores those of the jobs whose keys are free. Waits for transactions that
-- are about to take or give back the same keys.
-- Inputs: $1 to $17 as enqueue_mixed; in step with its jobs: $18 keys, distinct per
--   tenant, $19 tenants.
-- Output: ids of the stored jobs, and nothing or as verdict.
-- Locks: inserted rows, keys in order.
with {{changed}},
asked as materialized (
    select * from unnest($8::bigint[], $9::json[], $10::bigint[], $11::bigint[], $12::int[], $13::smallint[], $14::smallint[], $15::json[], $16::text[], $17::bigint[], $18::text[], $19::text[])
        as u (id, args, start_by, not_before, lane, turn, flags, policy, trace, gate, job_key, tenant)
),
taken as (
    insert into {{jobkey}} (tenant, job_key, id)
    select tenant, job_key, id from asked where (select lanes from changed) is null order by tenant, job_key
    on conflict do nothing
    returning id
),
clock as materialized (select {{now}} as now from (select count(*) from taken) after_waiting),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, job_key, policy, trace, args, gate)
    select u.id, coalesce(nullif(u.start_by, 0), nullif(u.not_before, 0), now), u.not_before, now, u.lane, u.turn, u.flags, u.job_key, u.policy, u.trace, u.args, nullif(u.gate, 0)
    from clock, asked u
    where u.id in (select id from taken)
    returning id, start_by, not_before, created_at, lane, turn, gate
),
scheduled as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, not_before, lane, 0, 0, 0 from stored where not_before > created_at
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, turn, start_by, id, lane, 0, 0, 0 from stored where not_before <= created_at and gate is not null
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select distinct gate from parked
),
due as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, 0, turn, start_by, id, 0, 0, 0 from stored where not_before <= created_at and gate is null
)
select id, null::text from stored
union all
select null, {{verdict}} from changed where lanes is not null;

-- name: key_holders
-- Reads who holds keys. It is a statement of its own after enqueue_keyed,
-- whose snapshot cannot see a holder that it waited for.
-- Inputs, in step: $1 tenants, $2 keys.
-- Output: tenant, key, id of the holder.
-- Locks: none.
select k.tenant, k.job_key, k.id
from unnest($1::text[], $2::text[]) as a (tenant, job_key)
join {{jobkey}} k on k.tenant = any (array[a.tenant]) and k.job_key = a.job_key;
