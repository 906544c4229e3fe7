-- Common statements of sweeps.

-- name: add_sweep
-- Stores a new sweep, unless one has its name.
-- Inputs: name, tenant, state, status, body.
-- Output: none.
-- Locks: the inserted row; waits for transactions that take the same name.
insert into {{sweep}} (id, version, created_at, name, tenant, state, status, body)
values ({{new_sweep}}, 1, {{now}}, ?::text, ?::text, ?::text, ?::json, ?::json)
on conflict (name) do nothing;

-- name: sweep_clock
-- Follows lock_sweep or try_sweep: reads the clock under the lock.
-- Inputs: id.
-- Output: the time, whether the sweep exists.
-- Locks: none.
select {{now}}, exists (select 1 from {{sweep}} /*! force index (primary) */ where id = ?::bigint);

-- name: replace_sweep
-- Replaces the declaration of a sweep that is locked. It fails if its name is taken.
-- Inputs: name, tenant, body, id.
-- Output: none.
-- Locks: the row; waits for transactions that take the same name.
update {{sweep}} set version = version + 1, name = ?::text, tenant = ?::text, body = ?::json where id = ?::bigint;

-- name: keep_sweep
-- Stores the new state of a sweep that is locked.
-- Inputs: state, version, status, body or null, id.
-- Output: none.
-- Locks: the row.
update {{sweep}}
set state = ?::text, version = ?::bigint, status = ?::json, body = coalesce(?::json, body)
where id = ?::bigint;

-- name: delete_sweep
-- Removes the row of a sweep that is locked.
-- Inputs: id.
-- Output: none.
-- Locks: the row.
delete from {{sweep}} where id = ?::bigint;

-- name: shard_numbers
-- Lists the shards of a sweep.
-- Inputs: sweep.
-- Output: number.
-- Locks: none.
select number from {{shard}} /*! force index (primary) */ where sweep = ?::bigint;

-- name: failed_items
-- Lists failed items.
-- Inputs: sweep, first index, index after the last one, limit.
-- Output: sweep, idx, attempts, error, at, again, by index.
-- Locks: none.
select sweep, idx, attempts, error, at, again from {{failed_item}} /*! force index (primary) */
where sweep = ?::bigint and idx >= ?::bigint and idx < ?::bigint
order by sweep, idx limit ?::int;

-- name: known_failed
-- Lists the given indexes that belong to failed items.
-- Inputs: sweep, indexes.
-- Output: idx.
-- Locks: none.
select idx from {{failed_item}} /*! force index (primary) */ where sweep = ?::bigint and idx in (?::bigint[]);

-- name: dismiss
-- Removes the job of a shard.
-- Inputs: sweep, number.
-- Output: none.
-- Locks: the row of shard.
update {{shard}} /*! force index (primary) */ set job = 0 where sweep = ?::bigint and number = ?::int;

-- name: reopen_shard
-- Makes a shard with items to be retried start again.
-- Inputs: again, to_index, sweep, number.
-- Output: none.
-- Locks: the row of shard_progress.
update {{shard_progress}} /*! force index (primary) */ set again = ?::bigint, to_index = ?::bigint, ended = false where sweep = ?::bigint and number = ?::int;

-- name: sweep_logs
-- Lists log lines, newest first.
-- Inputs: sweep, ID below which to start, limit.
-- Output: id, sweep, idx, level, text, at.
-- Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}} /*! force index (sweep) */
where sweep = ?::bigint and id < ?::bigint
order by sweep desc, id desc limit ?::int;

-- name: item_logs
-- Lists log lines about an item, newest first.
-- Inputs: sweep, index, ID below which to start, limit.
-- Output: as sweep_logs.
-- Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}} /*! force index (item) */
where sweep = ?::bigint and idx = ?::bigint and id < ?::bigint
order by sweep desc, idx desc, id desc limit ?::int;

-- name: item_level_logs
-- Lists log lines of a level about an item, newest first.
-- Inputs: sweep, index, level, ID below which to start, limit.
-- Output: as sweep_logs.
-- Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}} /*! force index (item) */
where sweep = ?::bigint and idx = ?::bigint and level = ?::text and id < ?::bigint
order by sweep desc, idx desc, id desc limit ?::int;

-- name: add_sweep_event
-- Adds an event to the history of a sweep.
-- Inputs: sweep, at, actor, action, was, became, note.
-- Output: none.
-- Locks: the inserted row.
insert into {{sweep_event}} (id, sweep, at, actor, action, was, became, note)
values ({{new_sweep_event}}, ?::bigint, ?::bigint, ?::text, ?::text, ?::text, ?::text, ?::text);

-- name: sweep_events
-- Lists the history of a sweep, newest first.
-- Inputs: sweep, ID below which to start, limit.
-- Output: id, at, actor, action, was, became, note.
-- Locks: none.
select id, at, actor, action, was, became, note from {{sweep_event}} /*! force index (sweep) */ where sweep = ?::bigint and id < ?::bigint order by sweep desc, id desc limit ?::int;

-- name: add_sweep_items
-- Stores a part of the list of items of a sweep.
-- Inputs: sweep, index of the first, items as a JSON array.
-- Output: none.
-- Locks: the inserted row.
insert into {{sweep_item}} (sweep, first, items) values (?::bigint, ?::bigint, ?::json);

-- name: sweep_items
-- Reads the part of the list of items of a sweep that contains an index.
-- Inputs: sweep, index.
-- Output: index of the first, items.
-- Locks: none.
select first, items from {{sweep_item}} /*! force index (primary) */ where sweep = ?::bigint and first <= ?::bigint order by first desc limit 1;
