-- Statements about nodes whose process lives, though they lost their lease.

-- name: mark_lived
-- Notes that the process of a node lives.
-- Inputs: node.  Output: none.  Locks: the writer's.
update {{node}} set lived = 1 where id = ?;

-- name: has_lived
-- Tells whether the process of a node said that it lives.
-- Inputs: node.  Output: 1 or 0; no row if the node is unknown.  Locks: none.
select lived from {{node}} where id = ?;

-- name: add_reaped
-- Notes that a crash was counted for a job.
-- Inputs: node, id, run, now.  Output: none.  Locks: the writer's.
insert into {{reaped}} (node, id, run, at) values (?, ?, ?, ?);

-- name: reaped_from
-- Lists the jobs for which crashes of a node were counted.
-- Inputs: node.  Output: id, run.  Locks: none.
select id, run from {{reaped}} where node = ? order by id, run;

-- name: forget_reaped
-- Forgets for which jobs crashes of a node were counted.
-- Inputs: node.  Output: none.  Locks: the writer's.
delete from {{reaped}} where node = ?;

-- name: prune_reaped
-- Forgets crashes of nodes that have not said for long that they lived.
-- Inputs: time before which they were counted, limit.  Output: none.  Locks: the writer's.
delete from {{reaped}} where (node, id, run) in (select node, id, run from {{reaped}} where at < ? order by at limit 0 + ?);

-- name: relabel
-- Changes why an attempt is recorded that was taken for a crash.
-- Inputs: reason, error, id, run.  Output: none.  Locks: the writer's.
update {{attempt}} set reason = ?, error = ? where id = ? and run = ?;

-- name: uncrash_later
-- Takes a crash of a scheduled job back.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{later}} set crashes = max(crashes - 1, 0) where id = ?;

-- name: uncrash_parked
-- Takes a crash of a parked job back.
-- Inputs: gate, turn, start_by, id.  Output: none.  Locks: the writer's.
update {{parked}} set crashes = max(crashes - 1, 0) where gate = ? and turn = ? and start_by = ? and id = ?;

-- name: uncrash_running
-- Takes a crash of a running job back.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{running}} set crashes = max(crashes - 1, 0) where id = ?;

-- name: uncrash_waiting
-- Takes a crash of a waiting job back.
-- Inputs: id.  Output: none.  Locks: the writer's.
update {{waiting}} set crashes = max(crashes - 1, 0) where id = ?;
