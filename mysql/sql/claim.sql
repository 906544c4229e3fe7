-- Statements of Claim, in the order in which they run in one transaction.

-- name: claim_check
-- Opens a claim: reads whether the node is alive, and the version of the limits (what is
-- paused and limited). A change of the limits locks the same row exclusively, so it
-- returns only when no claim is left that does not know of it. The node is read after
-- the row was locked, and without a lock: beats never wait for claims. A row with
-- another token belongs to another node, and one whose last beat is older than an
-- acknowledged one is from before the database lost its last commits.
-- Inputs: node, its token, the last acknowledged beat.
-- Output: version of the limits, now, end of the node's lease (null if it has none).
-- Locks: the counter of changes of limits, shared.
select c.value, {{now}},
       (select n.lease_until from {{node}} n
        where n.id = ? and n.dead = 0 and n.token = ? and n.last_beat >= ? and c.value is not null)
from {{counter}} c
where c.name = 'pause'
lock in share mode;

-- name: busy_lanes
-- Lists the lanes that hold ready jobs, in about one index look-up per lane.
-- Inputs: none.
-- Output: lane.
-- Locks: none.
select distinct lane from {{ready}} force index for group by (primary);

-- name: lane_heads
-- Lists the first ready jobs of one lane. Several of these are joined by union all: a
-- claim over many lanes first chooses, so that it locks only what it takes.
-- Inputs: {{lane_id}}, {{solo}}, {{limit}}.
-- Output: lane, turn, start_by, id.
-- Locks: none.
(select lane, turn, start_by, id
from {{ready}} force index (primary)
where lane = {{lane_id}} and solo = {{solo}}
order by turn, start_by, id
limit {{limit}});

-- name: lane_firsts
-- Reads the first ready job of each of many lanes. It costs a fraction of lane_heads,
-- which the server has to plan for each lane.
-- Inputs: {{ids}} of lanes, {{solo}}.
-- Output: position of the lane in the list, from 1; turn, start_by and id of its
--   first job with spaces between, null if it has none.
-- Locks: none.
select v.n,
       (select concat_ws(' ', r.turn, r.start_by, r.id)
        from {{ready}} r force index (primary)
        where r.lane = v.lane and r.solo = {{solo}}
        order by r.turn, r.start_by, r.id
        limit 1)
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (n for ordinality, lane int path '$')) v;

-- name: lane_keys
-- Reads the first two ready jobs of each of many lanes.
-- Inputs: {{ids}} of lanes, {{solo}}.
-- Output: position of the lane in the list, from 1; its first and its second job
--   as lane_firsts has them.
-- Locks: none.
select v.n,
       (select concat_ws(' ', r.turn, r.start_by, r.id)
        from {{ready}} r force index (primary)
        where r.lane = v.lane and r.solo = {{solo}}
        order by r.turn, r.start_by, r.id
        limit 1),
       (select concat_ws(' ', r.turn, r.start_by, r.id)
        from {{ready}} r force index (primary)
        where r.lane = v.lane and r.solo = {{solo}}
        order by r.turn, r.start_by, r.id
        limit 1, 1)
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (n for ordinality, lane int path '$')) v;

-- name: claim_lane
-- Locks and reads the first ready jobs of one lane that no other transaction has
-- locked.
-- Inputs: id, queue, tenant and kind of the lane; lane, solo, limit.
-- Output: the jobs, in order, each with the clock after it was locked and whether
--   the lane has these names.
-- Locks: rows of ready, then of job and memo; skips locked rows. The lane is read
--   without a lock.
select r.lane, r.turn, r.start_by, r.id, r.attempt, r.failures, r.crashes,
       j.not_before, j.created_at, j.job_key, j.flags, j.policy, j.trace, j.args, m.memo, m.progress, {{now}},
       (select count(*) from {{lane}} l force index (primary)
        where l.id = ? and l.queue = ? and l.tenant = ? and l.kind = ?)
from {{ready}} r force index (primary)
straight_join {{job}} j force index (primary) on j.id = r.id
left join {{memo}} m force index (primary) on m.id = r.id
where r.lane = ? and r.solo = ?
order by r.turn, r.start_by, r.id
limit ?
for update skip locked;

-- name: claim_chosen
-- Locks and reads chosen ready jobs: those that are still there and that no other
--   transaction has locked. It looks them up one by one in the order of the list, which
--   is the order of jobs over all lanes. MariaDB queues a request for a moment before
--   it skips a row, and reports a deadlock if two claims do so for rows of each other.
--   That cannot happen if all claims lock in one order.
-- Inputs: {{solo}}, {{rows}} of lane, turn, start_by, id as JSON, {{count}} of the
--   lanes, {{chosen}}: condition on their ids and names.
-- Output: the jobs, columns as claim_lane; the last is whether all lanes have their
--   names.
-- Locks: rows of ready, then of job and memo, as listed; skips locked rows. The lanes
--   are read without a lock.
select r.lane, r.turn, r.start_by, r.id, r.attempt, r.failures, r.crashes,
       j.not_before, j.created_at, j.job_key, j.flags, j.policy, j.trace, j.args, m.memo, m.progress, {{now}},
       (select count(*) = {{count}} from {{lane}} l force index (primary)
        where {{chosen}})
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (
  lane int path '$[0]', turn smallint path '$[1]', start_by bigint path '$[2]', id bigint path '$[3]')) v
straight_join {{ready}} r force index (primary)
  on r.lane = v.lane and r.solo = {{solo}} and r.turn = v.turn and r.start_by = v.start_by and r.id = v.id
straight_join {{job}} j force index (primary) on j.id = r.id
left join {{memo}} m force index (primary) on m.id = r.id
for update skip locked;

-- name: take_fence
-- Takes a fence: the insert id that the server returns. It runs after the rows were
-- locked. A transaction that claimed one of them before has committed by then, so its
-- fence was taken earlier and is smaller: the counter only grows, whether or not
-- transactions commit. See also anchor_fences.
-- Inputs: node.
-- Output: none.
-- Locks: the node's row of fence.
replace into {{fence}} (node) values (?);

-- name: to_running_ranges
-- Leases jobs to a node whose rows are locked and whose ids are consecutive, before
-- leave_ready_ranges removes them from ready.
-- Inputs: {{fence_no}}, {{node_id}}, {{clock}}, {{set}} of limits by lane, {{solo}},
--   {{spans}}: conditions on lane, turn, start_by, id.
-- Output: none.
-- Locks: inserted rows.
insert into {{running}} (id, fence, node, lane, attempt, failures, crashes, started_at, held)
select id, {{fence_no}}, {{node_id}}, lane, attempt + 1, failures, crashes, {{clock}}, {{set}}
from {{ready}} force index (primary)
where solo = {{solo}} and ({{spans}});

-- name: leave_ready_ranges
-- Removes jobs from ready whose rows are locked and whose ids are consecutive.
-- Inputs: {{solo}}, {{spans}}: conditions on lane, turn, start_by, id.
-- Output: none.
-- Locks: rows of ready.
delete r from {{ready}} r force index (primary) where solo = {{solo}} and ({{spans}}) and attempt >= 0;

-- name: leave_ready
-- Removes jobs from ready whose rows are locked. It looks them up by their keys from a
-- list: given such a list as a condition, the server may scan a small table and wait
-- for rows that other transactions have locked.
-- Inputs: {{solo}}, {{rows}} of lane, turn, start_by, id as JSON.
-- Output: none.
-- Locks: rows of ready.
delete r
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (
  lane int path '$[0]', turn smallint path '$[1]', start_by bigint path '$[2]', id bigint path '$[3]')) v
straight_join {{ready}} r force index (primary)
  on r.lane = v.lane and r.solo = {{solo}} and r.turn = v.turn and r.start_by = v.start_by and r.id = v.id;

-- name: to_running
-- Leases jobs to a node.
-- Inputs: {{rows}} of id, fence, node, lane, attempt, failures, crashes,
--   started_at, held.
-- Output: none.
-- Locks: inserted rows.
insert into {{running}} (id, fence, node, lane, attempt, failures, crashes, started_at, held)
values {{rows}};
