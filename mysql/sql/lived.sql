-- Statements about nodes whose process lives, though they lost their lease.

-- name: mark_lived
-- Notes that the process of a node lives. It commits by itself, before crashes are taken
-- back: from then on none is counted for the node, and those counted before are visible.
-- Inputs: node.
-- Output: none.
-- Locks: the node; waits for those who reap from it.
update {{node}} set lived = 1 where id = ?;

-- name: share_lived
-- Tells which nodes said that they live. Who says so waits for the end of the
-- transaction, and then sees what was counted in it.
-- Inputs: {{ids}}.
-- Output: id, lived.
-- Locks: the nodes, shared.
select id, lived from {{node}} force index (primary) where id in ({{ids}}) lock in share mode;

-- name: add_reaped
-- Notes that crashes were counted for jobs.
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
-- Forgets crashes of a node.
-- Inputs: {{rows}} of node, id, run.
-- Output: none.
-- Locks: the rows, locked before.
delete r from {{reaped}} r force index (primary) where (node, id, run) in ({{rows}}) and at >= 0;

-- name: prune_reaped
-- Forgets crashes of nodes that have not said for long that they lived.
-- Inputs: microseconds since they were counted, limit.
-- Output: none.
-- Locks: the rows.
delete from {{reaped}} where at < {{now}} - ? order by at limit ?;

-- name: relabel
-- Changes why an attempt is recorded that was taken for a crash.
-- Inputs: reason, error, id, run.
-- Output: none.
-- Locks: the attempt.
update {{attempt}} set reason = ?, error = ? where id = ? and run = ?;

-- name: uncrash_later
-- Takes a crash of a scheduled job back.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{later}} set crashes = greatest(crashes - 1, 0) where id = ?;

-- name: uncrash_parked
-- Takes a crash of a parked job back.
-- Inputs: gate, turn, start_by, id.
-- Output: none.
-- Locks: the row, locked before.
update {{parked}} set crashes = greatest(crashes - 1, 0) where gate = ? and turn = ? and start_by = ? and id = ?;

-- name: uncrash_running
-- Takes a crash of a running job back.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{running}} set crashes = greatest(crashes - 1, 0) where id = ?;

-- name: uncrash_waiting
-- Takes a crash of a waiting job back.
-- Inputs: id.
-- Output: none.
-- Locks: the row, locked before.
update {{waiting}} set crashes = greatest(crashes - 1, 0) where id = ?;
