-- name: known_server
-- The server that all processes have last agreed on, and this one.
-- Output: number, name, since when this server has its memory, whether commits may be lost by a
--   crash.
-- Locks: none.
select number, name, {{since}}, current_setting('synchronous_commit') = 'off' or current_setting('fsync') = 'off'
from {{server}} where id = 1;

-- name: server_number
-- How often another server was counted. The start of a server says nothing if its
-- database was restored while it ran.
-- Output: the number.
-- Locks: none.
select number from {{server}} where id = 1;

-- name: lock_server
-- Lets one process at a time count another server.
-- Output: number, name.
-- Locks: the row; waits for the process that has it.
select number, name from {{server}} where id = 1 for update;

-- name: history
-- Which database this is, and how often one of its standbys was promoted. Not every
-- provider lets users ask for it.
-- Output: a text.
-- Locks: none.
select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);

-- name: last_ids
-- How far ids of jobs, and fences, were given out.
-- Output: the first of the last block, the last fence.
-- Locks: none.
select (select last_value from {{jobid}}), (select last_value from {{fence}});

-- name: anchor_fences
-- Raises fences to the clock, if they are behind, in microseconds since 1970: they are
-- larger then than all that any server has given out before, unless its clock is behind
-- that of another server: so they are raised to what the caller knows, too. It comes after
-- exclude_claims: no claim draws one between reading the counter and writing it.
-- Inputs: $1 the largest fence that the caller has got.
-- Output: the last fence that can have been given out.
-- Locks: none.
select setval('{{fence}}', greatest((select last_value from {{fence}}), {{real_now}}, $1::bigint));

-- name: jump_ids
-- Leaves a gap in the ids of jobs and nodes, larger than what can have been given out
-- by a server that is lost.
-- Inputs: $1 the largest id of a job that the caller knows.
-- Output: the last ids of a job and a node that can have been given out.
-- Locks: none.
select setval('{{jobid}}', greatest((select last_value from {{jobid}}), $1::bigint) + 100000000),
       setval(pg_get_serial_sequence('{{node}}', 'id'), nextval(pg_get_serial_sequence('{{node}}', 'id')) + 1000);

-- name: count_server
-- Writes down which server all processes agree on.
-- Inputs: $1 number, $2 name.
-- Locks: the row.
update {{server}} set number = $1::bigint, name = $2::text where id = 1;
