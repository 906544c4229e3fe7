-- Statements about nodes whose process is alive although they lost their lease.

-- name: mark_lived
-- Records that the process of a node is alive.
-- Inputs: node.  Output: none.  Locks: the writer's.
update {{node}} set lived = 1 where id = ?;

-- name: has_lived
-- Reports whether a node was recorded as alive, and its last beat.
-- Inputs: node.  Output: 1 or 0, last_beat; no row if the node is unknown.  Locks: none.
select lived, last_beat from {{node}} where id = ?;

-- name: add_reaped
-- Records that a crash was counted for a job.
-- Inputs: node, id, run, now.  Output: none.  Locks: the writer's.
insert into {{reaped}} (node, id, run, at) values (?, ?, ?, ?);

-- name: reaped_from
-- Lists the jobs for which crashes of a node were counted.
-- Inputs: node.  Output: id, run.  Locks: none.
select id, run from {{reaped}} where node = ? order by id, run;

-- name: forget_reaped
-- Deletes the crashes of a node.
-- Inputs: node.  Output: none.  Locks: the writer's.
delete from {{reaped}} where node = ?;

-- name: prune_reaped
-- Deletes old crashes, whose nodes have not been recorded as alive for long.
-- Inputs: time before which they were counted, limit.  Output: none.  Locks: the writer's.
delete from {{reaped}} where (node, id, run) in (select node, id, run from {{reaped}} where at < ? order by at limit 0 + ?);

-- name: relabel
-- Changes the reason of an attempt that was taken for a crash.
-- Inputs: reason, error, id, run.  Output: none.  Locks: the writer's.
update {{attempt}} set reason = ?, error = ? where id = ? and run = ?;

-- name: uncrash_later
-- Takes back a crash of a scheduled job.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{later}} set crashes = max(crashes - 1, 0) where id = ?;

-- name: uncrash_parked
-- Takes back a crash of a parked job.
-- Inputs: gate, turn, start_by, id.  Output: none.  Locks: the writer's.
update {{parked}} set crashes = max(crashes - 1, 0) where gate = ? and turn = ? and start_by = ? and id = ?;

-- name: uncrash_running
-- Takes back a crash of a running job.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{running}} set crashes = max(crashes - 1, 0) where id = ?;

-- name: uncrash_waiting
-- Takes back a crash of a waiting job.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{waiting}} set crashes = max(crashes - 1, 0) where id = ?;
