-- Statements about nodes whose process is alive although they lost their lease.

-- name: mark_lived
-- Records that the process of a node is alive. It commits before crashes are taken
-- back: from then on none is counted for the node, and those counted before are
-- visible.
-- Inputs: node.
-- Output: none.
-- Locks: the node; waits for transactions that reap from it.
update {{node}} set lived = 1 where id = ?;

-- name: share_lived
-- Reads which nodes were recorded as alive, their last beats, and the fences that they
-- held when they were marked dead. A transaction that records a node as alive waits until
-- this one ends, and then sees what was counted in it.
-- Inputs: {{ids}}.
-- Output: id, lived, last_beat, held_fences.
-- Locks: the nodes, shared.
select id, lived, last_beat, held_fences from {{node}} force index (primary) where id in ({{ids}}) lock in share mode;

-- name: add_reaped
-- Records that crashes were counted for jobs.
-- Inputs: {{rows}} of node, id, run, now.
-- Output: none.
-- Locks: inserted rows.
insert into {{reaped}} (node, id, run, at) values {{rows}};

-- name: lock_reaped
-- Locks jobs for which crashes of a node were counted.
-- Inputs: node, limit.
-- Output: id, run.
-- Locks: those rows, in order of id.
select id, run from {{reaped}} force index (primary) where node = ? order by id, run limit ? for update;

-- name: forget_reaped
-- Deletes crashes of a node.
-- Inputs: {{rows}} of node, id, run.
-- Output: none.
-- Locks: the rows, locked before.
delete r from {{reaped}} r force index (primary) where (node, id, run) in ({{rows}}) and at >= 0;

-- name: prune_reaped
-- Deletes old crashes, whose nodes have not been recorded as alive for long.
-- Inputs: microseconds since they were counted, limit.
-- Output: none.
-- Locks: the rows.
delete from {{reaped}} where at < {{now}} - ? order by at limit ?;

-- name: relabel
-- Changes the reason of an attempt that was taken for a crash.
-- Inputs: reason, error, id, run.
-- Output: none.
-- Locks: the attempt.
update {{attempt}} set reason = ?, error = ? where id = ? and run = ?;

-- name: uncrash_later
-- Takes back a crash of a scheduled job.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{later}} set crashes = greatest(crashes - 1, 0) where id = ?;

-- name: uncrash_parked
-- Takes back a crash of a parked job.
-- Inputs: gate, turn, start_by, id.
-- Output: none.
-- Locks: the row, locked before.
update {{parked}} set crashes = greatest(crashes - 1, 0) where gate = ? and turn = ? and start_by = ? and id = ?;

-- name: uncrash_running
-- Takes back a crash of a running job.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{running}} set crashes = greatest(crashes - 1, 0) where id = ?;

-- name: uncrash_waiting
-- Takes back a crash of a waiting job.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{waiting}} set crashes = greatest(crashes - 1, 0) where id = ?;
