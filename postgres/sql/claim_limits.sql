-- name: linger
-- Follows share_limits where a claim takes several round trips. It bounds how long the
-- server lets the claim sit idle, and how long the claim waits for another one.
-- Output: ignored.
-- Locks: none.
, set_config('idle_in_transaction_session_timeout', '{{idle_limit}}', true), set_config('lock_timeout', '1s', true);

-- name: lane_keys
-- Reads the keys of the first ready jobs of spans, sections of lanes.
-- Inputs: $1 solo; per span: $2 lanes, $3 $4 $5 key (turn, start_by, id) to begin
--   with, $6 last turn; $7 how many of each.
-- Output: number of the span from 1, turn, start_by, id; in order within a span.
-- Locks: none.
select s.number, k.turn, k.start_by, k.id
from unnest($2::int[], $3::smallint[], $4::bigint[], $5::bigint[], $6::smallint[]) with ordinality
    as s (lane, from_turn, from_start_by, from_id, last_turn, number)
cross join lateral (
    select turn, start_by, id
    from {{ready}}
    where lane = s.lane and solo = $1::smallint and turn <= s.last_turn
      and (turn, start_by, id) >= (s.from_turn, s.from_start_by, s.from_id)
    order by turn, start_by, id
    limit $7::int
) k;

-- name: busy_lanes
-- Lists the lanes that hold ready jobs. It takes about one index look-up for each of
-- them, however many lanes hold none.
-- Output: lane.
-- Locks: none.
with recursive busy (lane) as (
    (select lane from {{ready}} order by lane limit 1)
    union all
    select (select r.lane from {{ready}} r where r.lane > b.lane order by r.lane limit 1) from busy b where b.lane is not null
)
select lane from busy where lane is not null;

-- name: suspect_lanes
-- Lists the lanes that hold crash suspects, as busy_lanes does.
-- Output: lane.
-- Locks: none.
with recursive busy (lane) as (
    (select lane from {{ready}} order by lane limit 1)
    union all
    select (select r.lane from {{ready}} r where r.lane > b.lane order by r.lane limit 1) from busy b where b.lane is not null
)
select lane from busy b
where lane is not null and (select true from {{ready}} r where r.lane = b.lane and r.solo = 1 limit 1);

-- name: lock_limits
-- Locks limits, in order, unless they are full: nothing starts under a full one.
-- Inputs: $1 ids.
-- Locks: the limits; waits for claims that have locked them.
select id from {{quota}} q
where id = any ($1::int[]) and (cap = 0 or used - coalesce((select sum(n) from {{quota_delta}} where quota = q.id), 0) < cap)
order by id
for update;

-- name: fold_limits
-- Locks limits that are not full and reads them, with the slots given back since they
-- were last written. It is a separate statement after lock_limits, so its snapshot
-- shows everything that was done under the locks before.
--
-- A limit that another claim released after the snapshot is read correctly too: its row
-- is read as it stands, and a delta that the other claim folded is not found any more.
-- A missed delta leaves the count too high, never too low.
-- Inputs: $1 ids.
-- Output, in no order: 'open' and the id of a limit that is not full; 'locked', id,
--   used, tokens, when these were refilled and the time, of those that could be locked;
--   'folded', id and how many slots were given back.
-- Locks: the limits; passes over those that other transactions have locked.
with open as materialized (
    select id from {{quota}} q
    where id = any ($1::int[]) and (cap = 0 or used - coalesce((select sum(n) from {{quota_delta}} where quota = q.id), 0) < cap)
),
locked as materialized (
    select id, used, tokens, refilled_at from {{quota}} where id = any (array(select id from open)) for update skip locked
),
folded as materialized (
    delete from {{quota_delta}} where quota = any (array(select id from locked)) returning quota, n
)
select 'open', id, 0, 0::float8, 0::bigint, 0::bigint from open
union all
select 'locked', id, used, tokens, refilled_at, (select {{now}}) from locked
union all
select 'folded', quota, sum(n)::int, 0::float8, 0::bigint, 0::bigint from folded group by quota;

-- name: claim_chosen
-- Leases jobs that were chosen under the locks of their limits to a node, if the node
-- is alive, and counts them in the limits. Fences are as in claim_lane.
-- Inputs: $1 solo, $2 node; per job: $3 lanes, $4 $5 $6 keys (turn, start_by, id), $7
--   held or null; per limit: $8 ids, $9 slots folded, $10 tokens, $11 when these were
--   refilled; $12 limit: it takes the first of the given jobs; $13 token of the node;
--   per lane: $14 ids, $15 queues, $16 tenants, $17 kinds, as in claim_lane.
-- Output: as claim_lane.
-- Locks: the leased jobs and no others; passes over jobs that other transactions have
--   locked.
with fit as materialized (
    select exists (select from {{node}} where id = $2::bigint and token = $13::text and not dead and lease_until > {{now}}) as ok
),
locked as materialized (
    select r.spot, c.held
    from (
        select *
        from unnest($3::int[], $4::smallint[], $5::bigint[], $6::bigint[], $7::text[]) with ordinality
            as c (lane, turn, start_by, id, held, number)
        order by number
    ) c
    cross join lateral (
        select ctid as spot from {{ready}}
        where lane = c.lane and solo = $1::smallint and turn = c.turn and start_by = c.start_by and id = c.id
        for update skip locked
    ) r
    where (select ok from fit)
    limit $12::int
),
picked as materialized (
    delete from {{ready}} r using locked l where r.ctid = l.spot
    returning r.id, r.lane, r.attempt, r.failures, r.crashes, l.held
),
changed as materialized (
    select string_agg(k.id::text, ' ') as lanes
    from unnest($14::int[], $15::text[], $16::text[], $17::text[]) as k (id, queue, tenant, kind)
    where (select true from {{lane}} where id = k.id and queue = k.queue and tenant = k.tenant and kind = k.kind) is null
),
lease as materialized (
    select nextval('{{fence}}') as fence, now from (select {{now}} as now, count(*) as n from picked) after_locking
    where n > 0 and case when (select lanes from changed) is null then true else ('changed lanes ' || (select lanes from changed))::int = n end
),
leased as (
    insert into {{running}} (id, fence, node, started_at, lane, attempt, failures, crashes, held)
    select id, fence, $2::bigint, now, lane, attempt + 1, failures, crashes, held from lease, picked
),
spent as materialized (
    select id, sum(folded) as folded, sum(started) as started, max(tokens) as tokens, max(refilled_at) as refilled_at
    from (
        select id, folded, 0 as started, tokens, refilled_at
        from unnest($8::int[], $9::int[], $10::float8[], $11::bigint[]) as q (id, folded, tokens, refilled_at)
        union all
        select quota::int, 0, n, null, null
        from (select held, count(*) as n from picked where held is not null group by held) h, unnest(string_to_array(h.held, ' ')) as quota
    ) u
    group by id
),
counted as (
    update {{quota}} q
    set used = q.used - s.folded + s.started,
        tokens = case when q.rate > 0 then s.tokens - s.started else q.tokens end,
        refilled_at = case when q.rate > 0 then s.refilled_at else q.refilled_at end
    from spent s where q.id = s.id
)
select p.id, e.fence, e.now, p.lane, p.attempt + 1, p.failures, p.crashes,
       j.turn, j.start_by, j.not_before, j.created_at, j.flags, j.job_key, j.policy, j.trace, j.args, m.memo, m.progress
from lease e
cross join picked p
left join {{job}} j on j.id = any (array[p.id])
left join {{memo}} m on m.id = any (array[p.id]);
