-- Statements of Join, Beat, Leave and Held. Each is a separate transaction, on
-- connections that no other call can block.

-- name: join
-- Registers a node; its id is the insert id that the server returns.
-- Inputs: name, info, idle, queued, lease, draining, token.
-- Output: none.
-- Locks: the inserted row.
insert into {{node}} (name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead, token)
values (?, ?, ?, ?, {{now}}, {{now}}, {{now}} + ?, ?, 0, ?);

-- name: beat
-- Extends the lease of a live node. Its condition is the opposite of mark_dead's; it
-- also requires that the row is the node's own and has what was acknowledged to the
-- node. A clock that was set back leaves the last beat as it is: an earlier one would
-- look like a lost commit. The assignments are made in their order, so both times come
-- from one reading of the clock.
-- Inputs: idle, queued, lease, lease, node, its token, the last acknowledged beat.
-- Output: none; no row is found if the lease was lost.
-- Locks: the node.
update {{node}} set idle = ?, queued = ?, lease_until = {{now}} + ?, last_beat = greatest(last_beat, lease_until - ?)
where id = ? and dead = 0 and lease_until > {{now}} and token = ? and last_beat >= ?;

-- name: beat_answer
-- Reads the time of the beat, whether there may be new wishes, whether the node should
-- drain, and the server's number.
-- Inputs: lease, node.
-- Output: last beat, when the lease was extended, number of wishes so far, draining,
--   number of the server; no row if the node is gone.
-- Locks: none.
select n.last_beat, n.lease_until - ?, c.value, n.draining, s.number
from {{node}} n join {{counter}} c join {{server}} s
where n.id = ? and c.name = 'wish' and s.id = 1;

-- name: node_left
-- Reads which node a row belongs to, and its last beat.
-- Inputs: node.
-- Output: token, last beat; no row if it is gone.
-- Locks: none.
select token, last_beat from {{node}} where id = ?;

-- name: leave
-- Ends the lease of a node. If it was dead before, it did not leave. Assignments see those
-- before them. The fences of the jobs that it holds are recorded as in mark_dead: a node
-- that leaves has the answers to its claims, or does not wait for them any more.
-- Inputs: fences with commas between, node, token.
-- Output: none.
-- Locks: the node.
update {{node}}
set left_at = if(dead = 1, left_at, {{now}}), held_fences = if(dead = 1, held_fences, ?), dead = 1, lease_until = least(lease_until, {{now}})
where id = ? and token = ?;

-- name: drain
-- Asks a live node to start no more jobs, or to continue.
-- Inputs: whether to drain, node.
-- Output: none; no row is found if it is not alive.
-- Locks: the node.
update {{node}} set draining = ? where id = ? and dead = 0 and lease_until > {{now}};

-- name: wishes
-- Lists the running jobs of a node that were asked to stop.
-- Inputs: node.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} where node = ? and wish is not null order by id;

-- name: wishes_of
-- Lists those of some jobs that still run and were asked to stop.
-- Inputs: {{ids}}.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} force index (primary) where id in ({{ids}}) and wish is not null order by id;

-- name: held
-- Lists the jobs that are leased to a node.
-- Inputs: node.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} where node = ? order by id;

-- name: held_as
-- Lists the jobs that are leased to a node, unless its row belongs to another node.
-- Inputs: node, node, its token.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}}
where node = ? and exists (select 1 from {{node}} n where n.id = ? and n.token = ?)
order by id;

-- name: nodes
-- Lists all nodes. A node whose lease has ended is dead, even if it is not marked.
-- Inputs: none.
-- Output: all columns; of the token whether there is none.
-- Locks: none.
select id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead = 1 or lease_until <= {{now}}, token = '', left_at
from {{node}}
order by id;
