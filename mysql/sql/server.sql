-- Statements by which processes notice that the database lost its last commits: it is
-- at another server, or at a restarted one, or was restored. See docs/decisions/0018.

-- name: engine
-- Reads what kind of server it is. It comes before the settings of the session, which
-- other kinds may refuse.
-- Inputs: none.
-- Output: version, its comment.
-- Locks: none.
select version(), @@version_comment;

-- name: server_name
-- Reads the identity of a server.
-- Inputs: none.
-- Output: its name, which no other server has, and its clock in microseconds.
-- Locks: none.
select /*!80000 @@server_uuid */ /*M!100600 concat_ws('/', @@hostname, @@port, @@server_id) */, {{realtime}};

-- name: server_uptime
-- Reads how long a server has been running.
-- Inputs: none.
-- Output: 'Uptime', seconds.
-- Locks: none.
show global status like 'Uptime';

-- name: server_number
-- Reads the number of the server that processes last agreed on.
-- Inputs: none.
-- Output: number.
-- Locks: none.
select number from {{server}} where id = 1;

-- name: lock_server
-- Reads the server that processes last agreed on. One process at a time checks whether
-- it is still that one.
-- Inputs: none.
-- Output: number, name.
-- Locks: the row of server.
select number, name from {{server}} where id = 1 for update;

-- name: losses
-- Reads when commits were lost. The row is locked.
-- Inputs: none.
-- Output: losses.
-- Locks: the row of server.
select losses from {{server}} where id = 1 for update;

-- name: add_loss
-- Records when commits were lost.
-- Inputs: losses.
-- Output: none.
-- Locks: the row of server.
update {{server}} set losses = ? where id = 1;

-- name: set_server
-- Records another server.
-- Inputs: number, name.
-- Output: none.
-- Locks: the row of server.
update {{server}} set number = ?, name = ? where id = 1;

-- name: anchor_fences
-- Raises the counter of fences to the clock. No fence ever given out is larger than the
-- clock, unless this server's clock is behind that of another: so the counter is also
-- raised to what the caller knows. A number that an insert names raises the counter if
-- it is larger, and never lowers it. The row belongs to no node.
-- Inputs: the fence after the largest that the caller has received.
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
-- Makes job ids continue above another one.
-- Inputs: id.
-- Output: none.
-- Locks: the counter of jobs.
update {{counter}} set value = ? where name = 'job';

-- name: add_dead_node
-- Inserts a node without a process, under an id or the next one: node ids continue
-- above it. It is removed before other transactions can see it.
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
