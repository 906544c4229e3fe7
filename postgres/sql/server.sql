-- name: known_server
-- Reads the server that all processes have last agreed on, and this one.
-- Output: number, name, since when this server has its memory, whether a crash may lose
--   commits.
-- Locks: none.
select number, name, {{since}}, current_setting('synchronous_commit') = 'off' or current_setting('fsync') = 'off'
from {{server}} where id = 1;

-- name: server_number
-- Reads how often another server was counted. The start time of a server does not show
-- that its database was restored while it ran.
-- Output: the number.
-- Locks: none.
select number from {{server}} where id = 1;

-- name: lock_server
-- Allows one process at a time to count another server.
-- Output: number, name, losses so far.
-- Locks: the row; waits for the process that has locked it.
select number, name, losses from {{server}} where id = 1 for update;

-- name: history
-- Identifies the database and how often one of its standbys was promoted. Not every
-- provider lets users read it.
-- Output: a text.
-- Locks: none.
select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);

-- name: last_ids
-- Reads how far ids of jobs, and fences, were given out.
-- Output: the first of the last block, the last fence.
-- Locks: none.
select (select last_value from {{jobid}}), (select last_value from {{fence}});

-- name: anchor_fences
-- Raises fences to the clock, in microseconds since 1970, if they are behind. They are
-- then larger than all that any earlier server has given out, unless this server's
-- clock is behind that server's: so they are raised to what the caller knows, too. It
-- comes after exclude_claims, so no claim draws a fence between reading the counter and
-- writing it.
-- Inputs: $1 the largest fence that the caller has received.
-- Output: the last fence that can have been given out.
-- Locks: none.
select setval('{{fence}}', greatest((select last_value from {{fence}}), {{real_now}}, $1::bigint));

-- name: jump_ids
-- Leaves a gap in the ids of jobs and nodes, larger than the number of ids that a lost
-- server can have given out.
-- Inputs: $1 the largest id of a job that the caller knows.
-- Output: the last ids of a job and a node that can have been given out.
-- Locks: none.
select setval('{{jobid}}', greatest((select last_value from {{jobid}}), $1::bigint) + 100000000),
       setval(pg_get_serial_sequence('{{node}}', 'id'), nextval(pg_get_serial_sequence('{{node}}', 'id')) + 1000);

-- name: count_server
-- Records which server all processes agree on.
-- Inputs: $1 number, $2 name, $3 losses.
-- Locks: the row.
update {{server}} set number = $1::bigint, name = $2::text, losses = $3::json where id = 1;
