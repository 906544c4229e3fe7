-- name: known_server
-- The server that all processes have last agreed on, and this one.
-- Output: number, name, when this server was started, whether commits may be lost by a
--   crash.
-- Locks: none.
select number, name, pg_postmaster_start_time(), current_setting('synchronous_commit') = 'off' or current_setting('fsync') = 'off'
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
-- How far ids of jobs were given out.
-- Output: the first of the last block.
-- Locks: none.
select last_value from {{jobid}};

-- name: anchor_fences
-- Raises fences to the clock, if they are behind, in microseconds since 1970: they are
-- larger then than all that any server has given out before. It comes after
-- exclude_claims: no claim draws one between reading the counter and writing it.
-- Output: the last fence that can have been given out.
-- Locks: none.
select setval('{{fence}}', greatest((select last_value from {{fence}}), {{real_now}}));

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
