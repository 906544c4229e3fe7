-- name: enqueue
-- Stores jobs that differ in nothing but id and args, and are due at once.
-- Inputs: $1 ids, $2 args, in step; of all of them: $3 start_by or 0, $4 lane,
--   $5 turn, $6 flags, $7 policy, $8 trace.
-- Locks: inserted rows.
with clock as materialized (select {{now}} as now),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args)
    select u.id, case $3::bigint when 0 then now else $3::bigint end, 0, now, $4::int, $5::smallint, $6::smallint, $7::json, $8::text, u.args
    from clock, unnest($1::bigint[], $2::json[]) as u (id, args)
)
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select $4::int, 0, $5::smallint, case $3::bigint when 0 then now else $3::bigint end, u.id, 0, 0, 0
from clock, unnest($1::bigint[]) as u (id);

-- name: enqueue_mixed
-- Stores any jobs without keys.
-- Inputs, in step: $1 ids, $2 args, $3 start_by or 0, $4 not_before or 0,
--   $5 lanes, $6 turns, $7 flags, $8 policies, $9 traces, $10 gates or 0.
-- Locks: inserted rows.
with clock as materialized (select {{now}} as now),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args, gate)
    select u.id, coalesce(nullif(u.start_by, 0), nullif(u.not_before, 0), now), u.not_before, now, u.lane, u.turn, u.flags, u.policy, u.trace, u.args, nullif(u.gate, 0)
    from clock, unnest($1::bigint[], $2::json[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[], $7::smallint[], $8::json[], $9::text[], $10::bigint[])
        as u (id, args, start_by, not_before, lane, turn, flags, policy, trace, gate)
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
)
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select lane, 0, turn, start_by, id, 0, 0, 0 from stored where not_before <= created_at and gate is null;

-- name: enqueue_keyed
-- Stores those of the jobs whose keys are free. Waits for transactions that
-- are about to take or give back the same keys.
-- Inputs, in step: $1 to $10 as enqueue_mixed, $11 keys, distinct per tenant,
--   $12 tenants.
-- Output: ids of the stored jobs.
-- Locks: inserted rows, keys in order.
with asked as materialized (
    select * from unnest($1::bigint[], $2::json[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[], $7::smallint[], $8::json[], $9::text[], $10::bigint[], $11::text[], $12::text[])
        as u (id, args, start_by, not_before, lane, turn, flags, policy, trace, gate, job_key, tenant)
),
taken as (
    insert into {{jobkey}} (tenant, job_key, id)
    select tenant, job_key, id from asked order by tenant, job_key
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
select id from stored;

-- name: key_holders
-- Reads who holds keys. It is a statement of its own after enqueue_keyed,
-- whose snapshot cannot see a holder that it waited for.
-- Inputs, in step: $1 tenants, $2 keys.
-- Output: tenant, key, id of the holder.
-- Locks: none.
select k.tenant, k.job_key, k.id
from unnest($1::text[], $2::text[]) as a (tenant, job_key)
join {{jobkey}} k on k.tenant = any (array[a.tenant]) and k.job_key = a.job_key;
