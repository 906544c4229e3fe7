-- name: join
-- Registers a node.
-- Inputs: $1 name, $2 info, $3 idle, $4 queued, $5 lease in microseconds,
--   $6 draining, $7 token.
-- Output: its id, when it joined.
-- Locks: the inserted row.
insert into {{node}} (joined_at, last_beat, lease_until, idle, queued, draining, dead, name, info, token)
select now, now, now + $5::bigint, $3::int, $4::int, $6::boolean, false, $1::text, $2::json, $7::text from (select {{now}} as now) clock
returning id, joined_at;

-- name: beat
-- Extends the lease of a node that is alive. The condition is the opposite of
-- mark_dead's, on the same row, so exactly one of them wins. The clock is read again if
-- the statement had to wait for the row. A row with an earlier beat than the node knows
-- has lost one; a clock that was set back leaves the last beat as it is.
-- Inputs: $1 node, $2 lease in microseconds, $3 idle, $4 queued, $5 token, $6 the last
--   acknowledged beat.
-- Output: last beat, when the lease was extended, whether the node should drain; no row
--   if the node is not alive.
-- Locks: the node.
update {{node}}
set lease_until = {{now}} + $2::bigint, last_beat = greatest(last_beat, {{now}}), idle = $3::int, queued = $4::int
where id = $1::bigint and token = $5::text and not dead and lease_until > {{now}} and last_beat >= $6::bigint
returning last_beat, lease_until - $2::bigint, draining;

-- name: drain
-- Asks a live node to start no more jobs, or to continue.
-- Inputs: $1 node, $2 whether to drain.
-- Output: its id; no row if it is not alive.
-- Locks: the node.
update {{node}} set draining = $2::boolean where id = $1::bigint and not dead and lease_until > {{now}} returning id;

-- name: wishes
-- Lists the running jobs of a node that were asked to stop.
-- Inputs: $1 node.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} where node = $1::bigint and wish is not null;

-- name: leave
-- Ends the lease of a node. If it was dead before, it did not leave. The fences of the
-- jobs that it holds are recorded as in mark_dead: a node that leaves has the answers to
-- its claims, or does not wait for them any more.
-- Inputs: $1 node, $2 token.
-- Locks: the node.
update {{node}}
set dead = true, left_at = case when dead then left_at else {{now}} end, lease_until = least(lease_until, {{now}}),
    held_fences = case when dead then held_fences else array(select distinct fence from {{running}} where node = $1::bigint) end
where id = $1::bigint and token = $2::text;

-- name: held
-- Lists the jobs leased to a node. It reads all of running, which is as small as the
-- nodes' slots together: an index would cost every claim and settle.
-- Inputs: $1 node, $2 token, or null if another process asks.
-- Output: id, fence; none if the row belongs to another node.
-- Locks: none.
select id, fence from {{running}}
where node = $1::bigint and ($2::text is null or exists (select from {{node}} where id = $1::bigint and token = $2::text));

-- name: node_left
-- Reads the row of a node that cannot beat.
-- Inputs: $1 node, $2 token.
-- Output: whether the row is its own, its last beat; no row if it is gone.
-- Locks: none.
select token = $2::text, last_beat from {{node}} where id = $1::bigint;
