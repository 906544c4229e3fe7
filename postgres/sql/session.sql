-- name: pin
-- Bounds and pins the statements that follow in the same transaction. Every
-- table is reached through an index from a known set of keys, so the one right
-- plan is known; without this a plan made while a table was still empty, or
-- had no statistics, can scan it for as long as the session lives. With
-- sequential scans made expensive, costs would also call for jit.
--
-- That leaves the planner one way to go wrong: to read an index from end to end,
-- in the order of a join. It looks like a single row to it when the statistics
-- were gathered while the table had none alive, and is millions of dead ones
-- beside a long transaction. So joins are not written with = on the first column
-- of an index, which promises an order, but with any (array[...]), which does
-- not, or as a lateral query of their own.
-- Output: one row to be ignored.
-- Locks: none.
select set_config('statement_timeout', '{{timeout}}', true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('jit', 'off', true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true);

-- name: same_server
-- Follows the list of pin: fails, so that nothing is done, if the server is not the one
-- that this process knows. It was started at another time, or crashed since: the database
-- may have lost its last commits then.
-- Output: to be ignored.
-- Locks: none.
, case when {{since}} = '{{started}}'::timestamptz then 0
       else ('another server since ' || {{since}})::int end;

-- name: bound_idle
-- Follows the list of pin, or of same_server, where a transaction takes several round trips:
-- bounds how long the server lets it sit idle.
-- Output: to be ignored.
-- Locks: none.
, set_config('idle_in_transaction_session_timeout', '{{idle_limit}}', true);

-- name: is_server
-- Tells whether the server is the one that this process knows, in a transaction of a
-- caller, which must not fail.
-- Inputs: $1 when it was started.
-- Output: whether it is.
-- Locks: none.
select {{since}} = $1::timestamptz;

-- name: now
-- The database's clock.
-- Output: microseconds.
-- Locks: none.
select {{now}};

-- name: notify
-- Tells the other processes. Never part of a transaction that does work: the
-- commit of a notification is serialized over the whole server.
-- Inputs: $1 channel, $2 message.
-- Output: one row to be ignored.
-- Locks: none.
select pg_notify($1, $2);

-- name: add_lanes
-- Creates lanes that do not exist yet, and takes those into use again that were given
-- up. It looks before: an insert that meets another uses up an id.
-- Inputs: $1 queues, $2 tenants, $3 kinds; in step.
-- Locks: inserted rows, and those of lanes that were given up.
insert into {{lane}} (queue, tenant, kind)
select queue, tenant, kind
from unnest($1::text[], $2::text[], $3::text[]) as n (queue, tenant, kind)
where (select true from {{lane}} l where l.queue = n.queue and l.tenant = n.tenant and l.kind = n.kind and l.retired_at = 0) is null
order by 1, 2, 3
on conflict (queue, tenant, kind) do update set retired_at = 0, seen_at = 0;

-- name: named_lanes
-- Looks lanes up by name. It is a statement of its own after add_lanes, whose
-- snapshot cannot see the lanes that another process won.
-- Inputs: $1 queues, $2 tenants, $3 kinds; in step.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select l.id, l.queue, l.tenant, l.kind
from unnest($1::text[], $2::text[], $3::text[]) as n (queue, tenant, kind)
join {{lane}} l on l.queue = n.queue and l.tenant = n.tenant and l.kind = n.kind;

-- name: lanes_above
-- Lists lanes that may be new.
-- Inputs: $1 id up to which all lanes are known, but for $2.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id > $1::int
union all
select id, queue, tenant, kind from {{lane}} where id = any ($2::int[]);

-- name: take_ids
-- Reserves blocks of job ids. Sequences never give back what a rollback undid.
-- Inputs: $1 number of blocks.
-- Output: first id of each block.
-- Locks: none.
select nextval('{{jobid}}') from generate_series(1, $1::int);

-- name: savepoint
-- Marks where to return to if what follows cannot be done.
-- Locks: none.
savepoint fairlead;

-- name: return_to_savepoint
-- Undoes what was done since savepoint.
-- Locks: none.
rollback to savepoint fairlead;

-- name: release_savepoint
-- Forgets the mark; what was done since stays.
-- Locks: none.
release savepoint fairlead;
