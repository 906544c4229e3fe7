-- name: pin
-- Bounds and pins the statements that follow in the same transaction. Every table is
-- reached through an index from a known set of keys, so the right plan is known.
-- Without this, a plan made while a table was empty, or had no statistics, may scan the
-- table for as long as the session lives. With sequential scans made expensive, costs
-- would also trigger jit.
--
-- The planner can still go wrong in one way: it may read an index from end to end, in
-- the order of a join. This looks like a single row to the planner if the statistics
-- were gathered while no row was alive, and is millions of dead rows beside a long
-- transaction. So joins are not written with = on the first column of an index, which
-- promises an order, but with any (array[...]), which does not, or as a separate
-- lateral query. A job whose id is given is not joined to the table that it stands in:
-- since PostgreSQL 18 the planner would know the id there too, and read that table's
-- index from end to end for a column that is not its first.
-- Output: one row, ignored.
-- Locks: none.
select set_config('statement_timeout', '{{timeout}}', true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('jit', 'off', true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true);

-- name: same_server
-- Follows the list of pin. It fails, so that nothing is done, if the server is not the
-- one that this process knows: if it was started at another time, or crashed since, the
-- database may have lost its last commits.
-- Output: ignored.
-- Locks: none.
, case when {{since}} = '{{started}}'::timestamptz then 0
       else ('another server since ' || {{since}})::int end;

-- name: bound_idle
-- Follows the list of pin, or of same_server, where a transaction takes several round trips:
-- bounds how long the server lets it sit idle.
-- Output: to be ignored.
-- Locks: none.
, set_config('idle_in_transaction_session_timeout', '{{idle_limit}}', true);

-- name: bound_locks
-- Follows the list of pin, or of same_server: bounds how long a statement waits for one
-- lock.
-- Output: to be ignored.
-- Locks: none.
, set_config('lock_timeout', '{{lock_limit}}', true);

-- name: is_server
-- Reports whether the server is the one that this process knows, in a transaction of a
-- caller, which must not fail.
-- Inputs: $1 when it was started.
-- Output: whether it is.
-- Locks: none.
select {{since}} = $1::timestamptz;

-- name: notify
-- Notifies the other processes. It is never part of a transaction that does work,
-- because the server serializes the commits of notifications.
-- Inputs: $1 channel, $2 message.
-- Output: one row, ignored.
-- Locks: none.
select pg_notify($1, $2);

-- name: add_lanes
-- Creates lanes that do not exist yet, and takes retired ones into use again. It looks
-- first, because an insert that conflicts uses up an id.
-- Inputs: $1 queues, $2 tenants, $3 kinds; in the same order.
-- Locks: inserted rows, and those of retired lanes.
insert into {{lane}} (queue, tenant, kind)
select queue, tenant, kind
from unnest($1::text[], $2::text[], $3::text[]) as n (queue, tenant, kind)
where (select true from {{lane}} l where l.queue = n.queue and l.tenant = n.tenant and l.kind = n.kind and l.retired_at = 0) is null
order by 1, 2, 3
on conflict (queue, tenant, kind) do update set retired_at = 0, seen_at = 0;

-- name: named_lanes
-- Looks up lanes by name. It is a separate statement after add_lanes, whose snapshot
-- cannot see the lanes that another process created first.
-- Inputs: $1 queues, $2 tenants, $3 kinds; in the same order.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select l.id, l.queue, l.tenant, l.kind
from unnest($1::text[], $2::text[], $3::text[]) as n (queue, tenant, kind)
join {{lane}} l on l.queue = n.queue and l.tenant = n.tenant and l.kind = n.kind;

-- name: lanes_above
-- Lists lanes that may be new.
-- Inputs: $1 id up to which all lanes are known, except those of $2.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id > $1::int
union all
select id, queue, tenant, kind from {{lane}} where id = any ($2::int[]);

-- name: take_ids
-- Reserves blocks of job ids. A rollback does not return values to a sequence.
-- Inputs: $1 number of blocks.
-- Output: first id of each block.
-- Locks: none.
select nextval('{{jobid}}') from generate_series(1, $1::int);

-- name: savepoint
-- Sets a point to return to if what follows cannot be done.
-- Locks: none.
savepoint fairlead;

-- name: return_to_savepoint
-- Undoes what was done since savepoint.
-- Locks: none.
rollback to savepoint fairlead;

-- name: release_savepoint
-- Removes the savepoint; what was done since stays.
-- Locks: none.
release savepoint fairlead;
