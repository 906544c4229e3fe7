-- Common statements of holds.

-- name: hold_look
-- Reads the last look and the clock.
-- Inputs: none.
-- Output: version, looked_at, due_at, since_at, last_id (all 0 before the first look), the time.
-- Locks: none.
select coalesce(max(version), 0), coalesce(max(looked_at), 0), coalesce(max(due_at), 0), coalesce(max(since_at), 0),
       coalesce(max(last_id), 0), (select {{now}})
from {{hold_look}} where id = 1;

-- name: begin_hold_looks
-- Stores the first look, unless there was one.
-- Inputs: version, looked_at, due_at, last_id.
-- Output: none; no row if there was one.
-- Locks: the inserted row.
insert into {{hold_look}} (id, version, looked_at, due_at, since_at, last_id)
values (1, ?1::bigint, ?2::bigint, ?3::bigint, ?2::bigint, ?4::bigint) on conflict do nothing;

-- name: keep_hold_look
-- Stores a look, unless another one was stored since the given version.
-- Inputs: version, looked_at, due_at, last_id, version of the one before.
-- Output: none; no row if there was another.
-- Locks: the row.
update {{hold_look}} set version = ?::bigint, looked_at = ?::bigint, due_at = ?::bigint, last_id = greatest(last_id, ?::bigint)
where id = 1 and version = ?::bigint;

-- name: end_holds
-- Ends ongoing holds.
-- Inputs: time, IDs.
-- Output: none.
-- Locks: the rows; only the node that stores a look writes them.
update {{hold}} /*! force index (primary) */ set until_at = ?::bigint where id in (?::bigint[]) and until_at = {{hold_open}};

-- name: open_holds
-- Lists the ongoing holds in order of ID.
-- Inputs: limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}} /*! force index (until_at) */ where until_at = {{hold_open}} order by id limit ?::int;

-- name: holds
-- Lists the holds within a period, newest first, optionally those of a queue, a tenant, a
-- kind and a gate.
-- Inputs: smaller ids than, from, to, queue, tenant, parent of the tenant, kind, gate, of
--   which an empty one stands for any, limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}}
where id < ?1::bigint and until_at > ?2::bigint and from_at < ?3::bigint
  and (?4::text = '' or queue in ('', ?4::text)) and (?5::text = '' or tenant in ('', ?5::text, ?6::text))
  and (?7::text = '' or kind in ('', ?7::text)) and (?8::text = '' or gate in ('', ?8::text))
order by id desc limit ?9::int;

-- name: last_kept_hold
-- Reads the end of the newest hold beyond a given number.
-- Inputs: how many are kept.
-- Output: until_at; no row if there are fewer.
-- Locks: none.
select until_at from {{hold}} /*! force index (until_at) */ order by until_at desc limit 1 offset ?::int;

-- name: forget_before
-- Records that earlier holds are incomplete.
-- Inputs: time.
-- Output: none.
-- Locks: the row.
update {{hold_look}} set since_at = ?1::bigint where id = 1 and since_at < ?1::bigint;
