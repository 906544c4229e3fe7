-- Statements by which processes notice that the database lost its last commits: it
-- is at another server, or at one that was started again, or was restored. See
-- docs/decisions/0018.

-- name: server_name
-- Asks a server who it is.
-- Inputs: none.
-- Output: its name, which no other server has, and its clock in microseconds.
-- Locks: none.
select /*!80000 @@server_uuid */ /*M!100600 concat_ws('/', @@hostname, @@port, @@server_id) */, {{realtime}};

-- name: server_uptime
-- Asks a server for how long it runs.
-- Inputs: none.
-- Output: 'Uptime', seconds.
-- Locks: none.
show global status like 'Uptime';

-- name: server_number
-- Reads the number of the server that processes have last agreed on.
-- Inputs: none.
-- Output: number.
-- Locks: none.
select number from {{server}} where id = 1;

-- name: lock_server
-- Reads the server that processes have last agreed on. One process after the other
-- looks whether it is still that one.
-- Inputs: none.
-- Output: number, name.
-- Locks: the row of server.
select number, name from {{server}} where id = 1 for update;

-- name: set_server
-- Says that the server is another one.
-- Inputs: number, name.
-- Output: none.
-- Locks: the row of server.
update {{server}} set number = ?, name = ? where id = 1;

-- name: anchor_fences
-- Raises the counter of fences to the clock, which no fence has reached that was
-- ever given out, unless the clock of this server is behind that of another: so the
-- counter is also raised to what the caller knows. A number that is named in an insert raises the counter if it is
-- larger, and never lowers it. The row belongs to no node.
-- Inputs: the fence after the largest that the caller has got.
-- Output: none.
-- Locks: the row of fence.
replace into {{fence}} (node, id) values (0, greatest({{realtime}}, ?));

-- name: last_fence
-- Reads where the counter of fences was anchored.
-- Inputs: none.
-- Output: fence.
-- Locks: none.
select id from {{fence}} where node = 0;

-- name: lock_last_job
-- Reads the last job id that was given out.
-- Inputs: none.
-- Output: id.
-- Locks: the counter of jobs.
select value from {{counter}} where name = 'job' for update;

-- name: set_last_job
-- Lets ids of jobs go on above another one.
-- Inputs: id.
-- Output: none.
-- Locks: the counter of jobs.
update {{counter}} set value = ? where name = 'job';

-- name: add_dead_node
-- Inserts a node that no process is, under an id or the next one: ids of nodes go
-- on above it. It is removed before others can see it.
-- Inputs: id, null for the next one.
-- Output: none; the insert id is its own.
-- Locks: the inserted row.
insert into {{node}} (id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead)
values (?, '', '{}', 0, 0, 0, 0, 0, 0, 1);

-- name: drop_dead_node
-- Removes what add_dead_node inserted.
-- Inputs: id.
-- Output: none.
-- Locks: the row.
delete from {{node}} where id = ?;
