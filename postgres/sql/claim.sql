-- name: share_limits
-- Begins a claim, appended to the list of pin. It keeps a change of the limits, such as
-- Pause, from returning until the claim has ended, and the claim from reading until a
-- change has ended. It comes before the statement that claims, so that statement's
-- snapshot is younger than the lock. The claim waits only briefly for any other lock.
-- Inputs: $1 key of the limits' lock.
-- Output: ignored.
-- Locks: the limits, shared.
, pg_advisory_xact_lock_shared($1::bigint), set_config('lock_timeout', '100ms', true);

-- name: claim_lane
-- Leases the first ready jobs of one lane to a node, if the node is alive and the limits
-- are those that the caller knows.
--
-- The fence is larger than any earlier fence of these jobs. An earlier fence was drawn
-- by a claim whose lease had ended, with its end committed, before the snapshot of this
-- statement could show the job as ready. This fence is drawn after the snapshot was
-- taken, and the sequence only grows.
--
-- Locking rows before deleting them costs as much WAL as deleting them. If no other
-- transaction ever touched a row (xmax) and no other claim is in the lane, the rows are
-- deleted at once. If another transaction touches a row at this moment, the statement
-- waits for it.
--
-- The statement fails, and so leases nothing, if the lane has other names than the
-- caller knows: the database may have lost the commit that created the lane, and given
-- its id to another lane.
-- Inputs: $1 limit, $2 solo, $3 node, $4 version of the known limits, $5 lane, $6 $7 $8
--   key (turn, start_by, id) to begin with, $9 first key of the lanes' locks, $10 token
--   of the node, $11 $12 $13 $14 lane and its names (queue, tenant, kind), as arrays of
--   one.
-- Output: the leased jobs, in no order; none if there are jobs of a higher
--   priority than the key's.
-- Locks: the lane if it is free; the leased jobs and no others; passes over jobs that
--   other transactions have locked.
with fit as materialized (
    select exists (select from {{node}} where id = $3::bigint and token = $10::text and not dead and lease_until > {{now}})
       and (select version from {{rules}} where id = 1) = $4::bigint
       and not exists (select from {{ready}} where lane = $5::int and solo = $2::smallint and turn < $6::smallint) as ok
),
first as (
    select ctid as spot, xmax = '0'::xid as untouched
    from {{ready}}
    where lane = $5::int and solo = $2::smallint and (turn, start_by, id) >= ($6::smallint, $7::bigint, $8::bigint)
      and (select ok from fit)
    order by turn, start_by, id
    limit $1::int
),
picked as materialized (
    delete from {{ready}}
    where ctid = any ((
        select case
            when count(*) = 0 then null
            when bool_and(untouched) and pg_try_advisory_xact_lock($9::int, $5::int) then array_agg(spot)
            else array(
                select ctid from {{ready}}
                where lane = $5::int and solo = $2::smallint and (turn, start_by, id) >= ($6::smallint, $7::bigint, $8::bigint)
                order by turn, start_by, id
                limit $1::int
                for update skip locked)
            end
        from first)::tid[])
    returning id, attempt, failures, crashes
),
changed as materialized (
    select string_agg(k.id::text, ' ') as lanes
    from unnest($11::int[], $12::text[], $13::text[], $14::text[]) as k (id, queue, tenant, kind)
    where (select true from {{lane}} where id = k.id and queue = k.queue and tenant = k.tenant and kind = k.kind) is null
),
lease as materialized (
    select nextval('{{fence}}') as fence, now from (select {{now}} as now, count(*) as n from picked) after_locking
    where n > 0 and case when (select lanes from changed) is null then true else ('changed lanes ' || (select lanes from changed))::int = n end
),
leased as (
    insert into {{running}} (id, fence, node, started_at, lane, attempt, failures, crashes)
    select id, fence, $3::bigint, now, $5::int, attempt + 1, failures, crashes from lease, picked
)
select p.id, e.fence, e.now, $5::int, p.attempt + 1, p.failures, p.crashes,
       j.turn, j.start_by, j.not_before, j.created_at, j.flags, j.job_key, j.policy, j.trace, j.args, m.memo, m.progress
from lease e
cross join picked p
left join {{job}} j on j.id = any (array[p.id])
left join {{memo}} m on m.id = any (array[p.id]);

-- name: claim_merged
-- Leases the first ready jobs of several spans, sections of lanes, in their common
-- order, as claim_lane does for one lane. It chooses without locks and then locks in
-- order what it takes: locking per span would hide jobs from other claims that this one
-- does not take.
--
-- It first reads a few jobs of every span. The cut is the key behind which nothing will
-- be taken. Only a span whose last job read comes before the cut can hold more jobs to
-- take, so only such a span is read further.
-- Inputs: $1 to $4 as claim_lane; per span: $5 lanes, $6 $7 $8 key (turn, start_by, id)
--   to begin with, $9 last turn, $10 limit, $11 number of its room; $12 how many jobs
--   of each span to read first, $13 how many to choose, $14 token of the node, $15 to
--   $18 names of the lanes as in claim_lane, $19 rooms.
-- Output: how many were chosen, then as claim_lane; one row of nulls if none was
--   leased.
-- Locks: as claim_lane.
with fit as materialized (
    select exists (select from {{node}} where id = $3::bigint and token = $14::text and not dead and lease_until > {{now}})
       and (select version from {{rules}} where id = 1) = $4::bigint as ok
),
first as materialized (
    select s.lane, s.last_turn, s.most, s.room, k.spot, k.turn, k.start_by, k.id, k.place
    from unnest($5::int[], $6::smallint[], $7::bigint[], $8::bigint[], $9::smallint[], $10::int[], $11::int[])
        as s (lane, from_turn, from_start_by, from_id, last_turn, most, room)
    cross join lateral (
        select ctid as spot, turn, start_by, id, row_number() over (order by turn, start_by, id) as place
        from {{ready}}
        where lane = s.lane and solo = $2::smallint and turn <= s.last_turn
          and (turn, start_by, id) >= (s.from_turn, s.from_start_by, s.from_id)
        order by turn, start_by, id
        limit least($12::int, s.most)
    ) k
),
cut as materialized (
    select turn, start_by, id from first order by turn, start_by, id offset $13::int - 1 limit 1
),
rest as materialized (
    select f.room, k.spot, k.turn, k.start_by, k.id
    from first f
    left join cut c on true
    cross join lateral (
        select ctid as spot, turn, start_by, id
        from {{ready}}
        where lane = f.lane and solo = $2::smallint and turn <= f.last_turn
          and (turn, start_by, id) > (f.turn, f.start_by, f.id)
        order by turn, start_by, id
        limit f.most - $12::int
    ) k
    where f.place = $12::int and f.most > $12::int
      and (c.id is null or (f.turn, f.start_by, f.id) < (c.turn, c.start_by, c.id))
),
chosen as materialized (
    {{choice}}
),
{{leasing}};

-- name: choose_first
-- The choice of claim_merged, unless a kind of several lanes has little room.
select spot, turn, start_by, id
from (select spot, turn, start_by, id from first union all select spot, turn, start_by, id from rest) seen
order by turn, start_by, id
limit $13::int;

-- name: choose_by_room
-- The choice of claim_merged if rooms must be counted over several lanes. Passing over
-- jobs without room may lead behind the cut, where a span that was not read further may
-- hold earlier jobs: nothing is chosen from there on.
select spot, turn, start_by, id
from (
    select spot, turn, start_by, id, room, row_number() over (partition by room order by turn, start_by, id) as place
    from (select spot, turn, start_by, id, room from first union all select spot, turn, start_by, id, room from rest) seen
) r
where place <= ($19::int[])[room]
  and not exists (
      select from first f left join cut c on true
      where f.place = $12::int and f.most > $12::int and (f.turn, f.start_by, f.id) >= (c.turn, c.start_by, c.id)
        and (f.turn, f.start_by, f.id) < (r.turn, r.start_by, r.id)
  )
order by turn, start_by, id
limit $13::int;

-- name: claim_fair
-- Leases jobs of several spans of lanes whose tenants share starts by weight, as
-- claim_merged does by key. It is what dispatch.Choose does with lanes that are all of
-- one scope and under no limits. Every start moves a tenant on by what it costs by
-- its weight, and its family likewise. So the place of a job among those of the same priority
-- is what its family has had when the job's turn in the family comes, and its turn in the
-- family is what its tenant has had when its turn in the tenant comes.
--
-- It first reads some jobs of every span, about what its tenant will get. Only a span
-- whose last job read has a place among the first can hold more jobs to take: reading on
-- moves later jobs back and earlier ones not at all. Usually there is none.
-- Inputs: $1 to $18 as claim_merged, but $12 per span; per span: $19 number of its tenant,
--   $20 what the tenant has had, $21 what a start costs it, $22 number of its family, $23
--   what the family has had, $24 what a start costs it. These are whole numbers: sums of
--   them are exact, here as in dispatch.
-- Output: how many were chosen; the lanes that have jobs, null in all rows but the first; then
--   as claim_lane; one row of nulls if none was leased.
-- Locks: as claim_lane.
with fit as materialized (
    select exists (select from {{node}} where id = $3::bigint and token = $14::text and not dead and lease_until > {{now}})
       and (select version from {{rules}} where id = 1) = $4::bigint as ok
),
first as materialized (
    select s.lane, s.last_turn, s.most, s.look, s.tenant, s.tenant_had, s.tenant_cost, s.family, s.family_had, s.family_cost,
           k.spot, k.turn, k.start_by, k.id, k.place
    from unnest($5::int[], $6::smallint[], $7::bigint[], $8::bigint[], $9::smallint[], $10::int[], $11::int[], $12::int[],
                $19::int[], $20::float8[], $21::float8[], $22::int[], $23::float8[], $24::float8[])
        as s (lane, from_turn, from_start_by, from_id, last_turn, most, room, look,
              tenant, tenant_had, tenant_cost, family, family_had, family_cost)
    cross join lateral (
        select ctid as spot, turn, start_by, id, row_number() over (order by turn, start_by, id) as place
        from {{ready}}
        where lane = s.lane and solo = $2::smallint and turn <= s.last_turn
          and (turn, start_by, id) >= (s.from_turn, s.from_start_by, s.from_id)
        order by turn, start_by, id
        limit least(s.look, s.most)
    ) k
),
line as materialized (
    select * from ({{weigh_first}}) w order by turn, had, start_by, id limit $13::int
),
rest as materialized (
    select f.tenant, f.tenant_had, f.tenant_cost, f.family, f.family_had, f.family_cost, k.spot, k.turn, k.start_by, k.id
    from line f
    cross join lateral (
        select ctid as spot, turn, start_by, id
        from {{ready}}
        where lane = f.lane and solo = $2::smallint and turn <= f.last_turn
          and (turn, start_by, id) > (f.turn, f.start_by, f.id)
        order by turn, start_by, id
        limit f.most - f.look
    ) k
    where f.place = f.look and f.most > f.look
),
seen as materialized (
    select tenant, tenant_had, tenant_cost, family, family_had, family_cost, spot, turn, start_by, id
    from first where exists (select from rest)
    union all
    select tenant, tenant_had, tenant_cost, family, family_had, family_cost, spot, turn, start_by, id from rest
),
chosen as materialized (
    select spot, turn, had, start_by, id from line where not exists (select from rest)
    union all
    (select spot, turn, had, start_by, id from ({{weigh_seen}}) w order by turn, had, start_by, id limit $13::int)
),
{{leasing}};

-- name: weigh
-- A part of claim_fair: where jobs stand among those of the same priority.
-- Inputs: {{choice}}: the jobs.
-- Output: the jobs, each with what its family has had when its turn comes.
select *, family_had + (row_number() over (partition by family order by turn, tenant_at, start_by, id) - 1) * family_cost as had
from (
    select *, tenant_had + (row_number() over (partition by tenant order by turn, start_by, id) - 1) * tenant_cost as tenant_at
    from {{choice}}
) of_tenant;

-- name: weigh_single
-- weigh if no two tenants have the same family: it spares going through the jobs twice.
-- Inputs and output: as weigh.
select *, family_had + (row_number() over (partition by family order by turn, start_by, id) - 1) * family_cost as had
from {{choice}};

-- name: fair_answer
-- The first columns of claim_fair.
t.chosen, case when row_number() over () = 1 then array(select distinct lane from first) end;

-- name: leasing
-- The end of claim_merged and claim_fair: leases what they have chosen.
-- Inputs: as there; {{order}} in which to lock; {{answer}}: the first columns of the
--   output.
locked as materialized (
    select r.ctid
    from chosen c join {{ready}} r on r.ctid = c.spot
    where (select ok from fit)
    order by {{order}}
    limit $1::int
    for update of r skip locked
),
picked as materialized (
    delete from {{ready}} where ctid = any (array(select ctid from locked))
    returning id, lane, attempt, failures, crashes
),
changed as materialized (
    select string_agg(k.id::text, ' ') as lanes
    from unnest($15::int[], $16::text[], $17::text[], $18::text[]) as k (id, queue, tenant, kind)
    where k.id = any (array(select distinct lane from picked))
      and (select true from {{lane}} where id = k.id and queue = k.queue and tenant = k.tenant and kind = k.kind) is null
),
lease as materialized (
    select nextval('{{fence}}') as fence, now from (select {{now}} as now, count(*) as n from picked) after_locking
    where n > 0 and case when (select lanes from changed) is null then true else ('changed lanes ' || (select lanes from changed))::int = n end
),
leased as (
    insert into {{running}} (id, fence, node, started_at, lane, attempt, failures, crashes)
    select id, fence, $3::bigint, now, lane, attempt + 1, failures, crashes from lease, picked
)
select {{answer}}, p.id, e.fence, e.now, p.lane, p.attempt + 1, p.failures, p.crashes,
       j.turn, j.start_by, j.not_before, j.created_at, j.flags, j.job_key, j.policy, j.trace, j.args, m.memo, m.progress
from (select count(*)::int as chosen from chosen) t
left join (lease e cross join picked p) on true
left join {{job}} j on j.id = any (array[p.id])
left join {{memo}} m on m.id = any (array[p.id]);

-- name: claim_check
-- Explains why a claim returned no jobs: whether the node is alive, and the version of
-- the limits.
-- Inputs: $1 node, $2 its token.
-- Output: alive, version of the limits.
-- Locks: none.
select exists (select from {{node}} where id = $1::bigint and token = $2::text and not dead and lease_until > {{now}}),
       (select version from {{rules}} where id = 1);
