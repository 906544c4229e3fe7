-- Statements of Join, Beat and Leave.

-- name: join
-- Registers a node.
-- Inputs: id, name, info, idle, queued, now, now, end of the lease, draining, token.
-- Output: none.  Locks: the writer's.
insert into {{node}} (id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, token, dead)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0);

-- name: beat
-- Extends the lease of a live node. Its condition is the opposite of mark_dead's.
-- Inputs: idle, queued, now, end of the lease, node, token, now.
-- Output: whether it should drain; no row if the lease was lost.
-- Locks: the writer's.
update {{node}} set idle = ?, queued = ?, last_beat = ?, lease_until = ?
where id = ? and token = ? and dead = 0 and lease_until > ?
returning draining;

-- name: drain
-- Asks a live node to start no more jobs, or to continue.
-- Inputs: whether to drain, node, now.  Output: none; no row is hit if it is not alive.
-- Locks: the writer's.
update {{node}} set draining = ? where id = ? and dead = 0 and lease_until > ?;

-- name: wishes
-- Lists the running jobs of a node that were asked to stop.
-- Inputs: node.  Output: id, fence.  Locks: none.
select id, fence from {{running}} where node = ? and wish is not null order by id;

-- name: leave
-- Ends the lease of a node. If it was dead before, it did not leave.
-- Inputs: now, now, node, token.  Output: none.  Locks: the writer's.
update {{node}} set dead = 1, left_at = case when dead = 1 then left_at else ? end, lease_until = min(lease_until, ?) where id = ? and token = ?;

-- name: held
-- Lists the jobs that are leased to a node; none if its row belongs to another node.
-- Inputs: node, token or null if another process asks.  Output: id, fence.
-- Locks: none.
select id, fence from {{running}}
where node = ?1 and (?2 is null or (select token from {{node}} where id = ?1) = ?2) order by id;

-- name: count_server
-- Counts another server: the file was restored.
-- Inputs: by how much.  Output: the number, the losses so far.  Locks: the writer's.
update {{server}} set number = number + ? where id = 1 returning number, losses;

-- name: add_loss
-- Records when commits were lost.
-- Inputs: losses.  Output: none.  Locks: the writer's.
update {{server}} set losses = ? where id = 1;
