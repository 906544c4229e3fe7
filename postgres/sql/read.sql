-- name: attempts
-- Lists the recorded runs of a job.
-- Inputs: $1 id.
-- Output: run, fence, node, started_at, finished_at, reason, error; oldest first.
-- Locks: none.
select run, fence, node, started_at, finished_at, reason, error from {{attempt}} where id = $1::bigint order by run;

-- name: nodes
-- Lists all nodes.
-- Output: id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead,
--   whether it has no token, when it left.
-- Locks: none.
select id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead or lease_until <= (select {{now}}), token = '', left_at from {{node}} order by id;

-- name: ahead
-- Counts the ready jobs of lanes before a key, without suspects.
-- Inputs: $1 lanes, $2 $3 $4 key (turn, start_by, id), $5 limit.
-- Output: lane, their number.
-- Locks: none.
select lane, count(*)
from (
    select l.lane
    from unnest($1::int[]) as l (lane)
    cross join lateral (
        select from {{ready}} r
        where r.lane = l.lane and r.solo = 0 and (r.turn, r.start_by, r.id) < ($2::smallint, $3::bigint, $4::bigint)
        limit $5::int
    ) first
    limit $5::int
) ahead
group by lane;
