-- Settings of every connection of the store, and statements that belong to no single
-- call.

-- name: session
-- Makes the store independent of the server's settings. READ COMMITTED locks no gaps
-- and shows every statement the newest commits. The server ends a transaction whose
-- client is idle, because its locks would hide rows from other transactions. MySQL has
-- no such limit, so there the server ends the whole connection instead.
-- Inputs: {{idle}} seconds that a client may be idle.
-- Output: none.
-- Locks: none.
set session
  autocommit = 1,
  time_zone = '+00:00',
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
  innodb_lock_wait_timeout = 5,
  lock_wait_timeout = 2
  /*M!100600 , tx_isolation = 'READ-COMMITTED', idle_transaction_timeout = {{idle}} */
  /*!80000 , transaction_isolation = 'READ-COMMITTED', wait_timeout = {{idle}} */;

-- name: wait_never
-- Lets the statements of a transaction fail rather than wait for rows that another one
-- holds. MySQL waits for a second at least. wait_as_usual reverts it. No statement may follow
-- that skips locked rows: MariaDB would fail to commit (error 1180).
-- Inputs: none.
-- Output: none.
-- Locks: none.
set session innodb_lock_wait_timeout = /*M!100600 0 */ /*!80000 1 */;

-- name: wait_as_usual
-- Lets a connection wait for rows as session does.
-- Inputs: none.
-- Output: none.
-- Locks: none.
set session innodb_lock_wait_timeout = 5;

-- name: clock_at_lanes
-- Reads the database's clock for jobs that are about to be stored, if their lanes are
-- as this process knows them: they were not retired, and the database has not lost them
-- or given their ids to other lanes. Until the transaction ends no table of the
-- database can be replaced by another.
-- Inputs: {{into}}, empty or a variable of the session, {{count}} of lanes, {{number}}
--   of the server, {{chosen}}: condition on ids and names of lanes.
-- Output: microseconds, null if a lane or the server is another.
-- Locks: none: it is a plain read, even into a variable; setting a variable would not
--   be.
select if(count(*) = {{count}}, {{now}}, null) {{into}}
from {{server}} s
straight_join {{lane}} l force index (primary)
where s.id = 1 and s.number = {{number}}
  and {{chosen}} and l.retired_at = 0;

-- name: savepoint
-- Sets a savepoint, to roll back what follows without the rest.
-- Inputs: {{mark}}, its name.
-- Output: none.
-- Locks: none.
savepoint {{mark}};

-- name: return_to_savepoint
-- Rolls back what was done since a savepoint.
-- Inputs: {{mark}}.
-- Output: none.
-- Locks: gives none back.
rollback to savepoint {{mark}};

-- name: release_savepoint
-- Removes a savepoint.
-- Inputs: {{mark}}.
-- Output: none.
-- Locks: none.
release savepoint {{mark}};

-- name: take_ids
-- Reserves job ids: those up to the insert id that the server returns. It commits at
-- once; ids are never given back.
-- Inputs: number of ids.
-- Output: none.
-- Locks: the counter, until the statement ends.
update {{counter}} set value = last_insert_id(value + ?) where name = 'job';

-- name: add_lanes
-- Creates lanes unless they exist.
-- Inputs: {{rows}} of queue, tenant, kind.
-- Output: none.
-- Locks: inserted rows, until the statement ends.
insert ignore into {{lane}} (queue, tenant, kind) values {{rows}};

-- name: reopen_lanes
-- Takes retired lanes into use again. It runs before add_lanes, which leaves them as
-- they are.
-- Inputs: {{rows}} of queue, tenant, kind.
-- Output: none.
-- Locks: retired lanes, until the statement ends.
update {{lane}} force index (names) set retired_at = 0, seen_at = 0
where (queue, tenant, kind) in ({{rows}}) and retired_at <> 0;

-- name: named_lanes
-- Looks up lanes by name that are not retired.
-- Inputs: {{rows}} of queue, tenant, kind.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where (queue, tenant, kind) in ({{rows}}) and retired_at = 0;

-- name: numbered_lanes
-- Looks up lanes by id that are not retired.
-- Inputs: {{ids}}.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id in ({{ids}}) and retired_at = 0;

-- name: lanes_above
-- Lists lanes that may be new.
-- Inputs: id up to which all lanes are known, except {{ids}}.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} force index (primary) where id > ? or id in ({{ids}}) order by id;
