-- name: changed
-- A part of statements that store jobs. It finds out whether the lanes and the server
-- are those that the caller knows. The database may have lost the commit that created a
-- lane, and have given its id to another lane; a retired lane takes no more jobs. The
-- arrays are read in subqueries: a plan for exactly so many lanes looks cheaper than
-- the general one, and would be made again each time.
-- Inputs: $1 since when the server has its memory; per lane: $2 ids, $3 queues,
--   $4 tenants, $5 kinds.
-- Output: the lanes, if one of them differs from what the caller knows, with 0 among
--   them if the server is another one; null if everything matches.
-- Locks: none.
changed as materialized (
    select string_agg(id::text, ' ') as lanes
    from (
        select k.id
        from unnest((select $2::int[]), (select $3::text[]), (select $4::text[]), (select $5::text[])) as k (id, queue, tenant, kind)
        where (select true from {{lane}} where id = k.id and queue = k.queue and tenant = k.tenant and kind = k.kind and retired_at = 0) is null
        union all
        select 0 where {{since}} <> $1::timestamptz
    ) differ
);

-- name: verdict
-- A part of statements that store jobs. It reports lanes that differ from what the
-- caller knows; nothing was stored then. It fails, so that the transaction is rolled
-- back, unless the transaction is a caller's own.
-- Inputs: $6 whether to return the lanes instead of failing.
-- Output: the lanes.
-- Locks: none.
case when $6::boolean then lanes else ('changed lanes ' || lanes)::int::text end;

-- name: known_one
-- A part of statements that store jobs of one lane, which most calls do. It returns
-- changed and the time in one row, which costs less than a row each.
-- Inputs: $1 as changed, $2 lane or 0 if it is not compared, $3 queue, $4 tenant, $5
--   kind, $6 as verdict.
-- Output: lanes as changed; now, null if the lanes are to be returned.
-- Locks: none.
known as materialized (
    select lanes, case when lanes is null then {{now}} when not $6::boolean then ('changed lanes ' || lanes)::bigint end as now
    from (
        select nullif(
            case when $2::int = 0 or (select true from {{lane}} where id = $2::int and queue = $3::text and tenant = $4::text and kind = $5::text and retired_at = 0)
                then '' else $2::int || ' ' end ||
            case when {{since}} = $1::timestamptz then '' else '0' end, '') as lanes
        offset 0
    ) compared
);

-- name: stored_alike
-- A part of enqueue.
-- Inputs: as there.
-- Locks: inserted rows.
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args)
    select u.id, case $9::bigint when 0 then now else $9::bigint end, 0, now, $10::int, $11::smallint, $12::smallint, $13::json, $14::text, u.args
    from known, unnest($7::bigint[], $8::json[]) as u (id, args)
    where now is not null
);

-- name: due_alike
-- A part of enqueue.
-- Inputs: as there.
-- Locks: inserted rows.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select $10::int, 0, $11::smallint, case $9::bigint when 0 then now else $9::bigint end, u.id, 0, 0, 0
from known, unnest($7::bigint[]) as u (id)
where now is not null;

-- name: enqueue
-- Stores jobs that differ only in id and args, and are due at once, in a transaction of
-- the store. It returns no rows: the server would have to keep them until everything is
-- stored, which costs a quarter more.
-- Inputs: $1 to $6 as known_one, of which $6 is false; $7 ids, $8 args, in the same
--   order; for all of them: $9 start_by or 0, $10 lane, $11 turn, $12 flags, $13
--   policy, $14 trace.
-- Locks: inserted rows.
with {{known_one}}, {{stored_alike}}
{{due_alike}};

-- name: enqueue_within
-- Does what enqueue does, in a transaction of a caller.
-- Inputs: as enqueue, but $6 is true.
-- Output: as verdict.
-- Locks: inserted rows.
with {{known_one}}, {{stored_alike}}, due as ({{due_alike}})
select lanes from known where lanes is not null;

-- name: enqueue_mixed
-- Stores any jobs without keys.
-- Inputs: $1 to $6 as changed and verdict; in the same order: $7 ids, $8 args, $9
--   start_by or 0, $10 not_before or 0, $11 lanes, $12 turns, $13 flags, $14 policies,
--   $15 traces, $16 gates or 0.
-- Output: as verdict.
-- Locks: inserted rows.
with {{changed}},
clock as materialized (select {{now}} as now),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, policy, trace, args, gate)
    select u.id, coalesce(nullif(u.start_by, 0), nullif(u.not_before, 0), now), u.not_before, now, u.lane, u.turn, u.flags, u.policy, u.trace, u.args, nullif(u.gate, 0)
    from clock, unnest($7::bigint[], $8::json[], $9::bigint[], $10::bigint[], $11::int[], $12::smallint[], $13::smallint[], $14::json[], $15::text[], $16::bigint[])
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
-- Stores those of the jobs whose keys are free. It waits for transactions that are
-- about to take or give back the same keys.
-- Inputs: $1 to $16 as enqueue_mixed; in the order of its jobs: $17 keys, distinct per
--   tenant, $18 tenants.
-- Output: id and null per stored job; or null and as verdict.
-- Locks: inserted rows, keys in order.
with {{changed}},
asked as materialized (
    select * from unnest($7::bigint[], $8::json[], $9::bigint[], $10::bigint[], $11::int[], $12::smallint[], $13::smallint[], $14::json[], $15::text[], $16::bigint[], $17::text[], $18::text[])
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
-- Reads which jobs hold keys. It is a separate statement after enqueue_keyed, whose
-- snapshot cannot see a holder that it waited for.
-- Inputs, in the same order: $1 tenants, $2 keys.
-- Output: tenant, key, id of the holder.
-- Locks: none.
select k.tenant, k.job_key, k.id
from unnest($1::text[], $2::text[]) as a (tenant, job_key)
join {{jobkey}} k on k.tenant = any (array[a.tenant]) and k.job_key = a.job_key;
