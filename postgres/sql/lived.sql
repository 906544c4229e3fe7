-- name: mark_lived
-- Records that the process of a node is alive. It commits before crashes are taken
-- back: from then on reap counts none for the node, and what it counted before is
-- visible.
-- Inputs: $1 node.
-- Locks: the node; waits for transactions that reap from it.
update {{node}} set lived = true where id = $1::bigint;

-- name: uncrash
-- Takes back crashes that were counted for a node. A job that moves at this moment is
-- missed and its row of reaped stays, so another call finds it.
-- Inputs: $1 node, $2 how the attempts are described.
-- Output: lanes of ready jobs that are no longer suspects.
-- Locks: those rows of reaped, the attempts and the jobs in their places.
with counted as materialized (
    select id, run from {{reaped}} where node = $1::bigint for update
),
relabelled as (
    update {{attempt}} a set reason = 'lease_lost', error = $2::text
    from counted c where a.id = any (array[c.id]) and a.run = c.run
),
jobs as materialized (
    select j.id, j.lane, j.turn, j.start_by, j.gate from counted c join {{job}} j on j.id = any (array[c.id])
),
in_ready as (
    update {{ready}} r set crashes = greatest(r.crashes - 1, 0), solo = (r.crashes - 1 >= {{solo_after}})::int
    from jobs j
    where r.lane = any (array[j.lane]) and r.solo = any (array[0, 1]) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
    returning r.id, r.lane
),
in_later as (
    update {{later}} set crashes = greatest(crashes - 1, 0) where id = any (array(select id from counted)) returning id
),
in_parked as (
    update {{parked}} p set crashes = greatest(p.crashes - 1, 0)
    from jobs j
    where p.gate = any (array[j.gate]) and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
    returning p.id
),
in_running as (
    update {{running}} set crashes = greatest(crashes - 1, 0) where id = any (array(select id from counted)) returning id
),
in_waiting as (
    update {{waiting}} set crashes = greatest(crashes - 1, 0) where id = any (array(select id from counted)) returning id
),
found as (
    select id from in_ready union all select id from in_later union all select id from in_parked
    union all select id from in_running union all select id from in_waiting
),
settled as (
    delete from {{reaped}} where node = $1::bigint and id = any (array(select id from found))
)
select distinct lane from in_ready;

-- name: forget_reaped
-- Deletes crashes of a node: the jobs for which they were counted have ended.
-- Inputs: $1 node.
-- Locks: the deleted rows.
delete from {{reaped}} where node = $1::bigint;
