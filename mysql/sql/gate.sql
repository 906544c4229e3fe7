-- Statements of gates. Those that park a job, give back a place or post a gate also run
-- in the caller's transaction, at any isolation level and with any session settings;
-- the others run only in the store's own, at READ COMMITTED.

-- name: to_parked
-- Parks jobs at their gates.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes) values {{rows}};

-- name: lock_parked
-- Locks a parked job.
-- Inputs: gate, turn, start_by, id.
-- Output: attempt, failures, crashes.
-- Locks: the row of parked.
select attempt, failures, crashes
from {{parked}} force index (primary)
where gate = ? and turn = ? and start_by = ? and id = ?
for update;

-- name: leave_parked
-- Removes jobs from parked whose rows are locked.
-- Inputs: {{rows}} of gate, turn, start_by, id as JSON.
-- Output: none.
-- Locks: rows of parked.
delete p
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (
  gate bigint path '$[0]', turn smallint path '$[1]', start_by bigint path '$[2]', id bigint path '$[3]')) v
straight_join {{parked}} p force index (primary)
  on p.gate = v.gate and p.turn = v.turn and p.start_by = v.start_by and p.id = v.id;

-- name: places_of
-- Reads which scheduled jobs, whose rows are locked, have a place. Here and below, one
-- index holds everything that is read: given a list as a condition, the server would
-- scan a table that it takes for small, so the list is joined.
-- Inputs: {{rows}} of gate, id as JSON.
-- Output: id.
-- Locks: none.
select a.id
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (gate bigint path '$[0]', id bigint path '$[1]')) v
straight_join {{admitted}} a force index (primary) on a.gate = v.gate and a.id = v.id;

-- name: leave_gates
-- Gives back places.
-- Inputs: {{rows}} of gate, id as JSON.
-- Output: none; the number of rows is how many had a place.
-- Locks: rows of admitted.
delete a
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (gate bigint path '$[0]', id bigint path '$[1]')) v
straight_join {{admitted}} a force index (primary) on a.gate = v.gate and a.id = v.id;

-- name: post_news
-- Records that gates may have a job to admit. It never waits.
-- Inputs: {{rows}} of gate.
-- Output: none.
-- Locks: inserted rows.
insert into {{gate_news}} (gate) values {{rows}};

-- name: share_limits
-- Opens an admission: the limits, and so the number of places, stay the same until it
-- ends.
-- Inputs: none.
-- Output: version of the limits.
-- Locks: the counter of changes of limits, shared.
select value from {{counter}} where name = 'pause' lock in share mode;

-- name: lock_gates
-- Locks gates, and waits for transactions that have locked them: an admission that
--   skipped a gate could not know whether the other one has seen its gate_news row.
--   Existing rows are locked exclusively too. An insert that ignored them would lock
--   them shared, and two that wait for one that is just being removed would wait for
--   each other.
-- Inputs: {{rows}} of id, in order.
-- Output: none.
-- Locks: the gates.
insert into {{gate}} (id) values {{rows}} on duplicate key update id = id;

-- name: known_gates
-- Reads which gates have a row that can be locked.
-- Inputs: {{ids}}.
-- Output: id.
-- Locks: none.
select g.id
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{gate}} g force index (primary) on g.id = v.id;

-- name: lock_idle_gates
-- Locks gates that no other transaction has locked.
-- Inputs: {{ids}}.
-- Output: id.
-- Locks: the gates, in order; skips locked rows.
select id from {{gate}} force index (primary) where id in ({{ids}}) order by id for update skip locked;

-- name: news_of
-- Lists the gate_news rows of locked gates. It comes before gate_state, which therefore
-- sees everything that these rows are about.
-- Inputs: {{ids}} of gates.
-- Output: id, gate.
-- Locks: none.
select n.id, n.gate
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{gate_news}} n force index (gate) on n.gate = v.id;

-- name: gate_state
-- Reads the state of a gate. Several of these are joined by union all. Uncommitted
-- changes do not count: a place is free only once its return is committed.
-- Inputs: {{gate_id}}.
-- Output: gate, places taken, lane of the first parked job (null if there is none).
-- Locks: none.
(select {{gate_id}},
  (select count(*) from {{admitted}} force index (primary) where gate = {{gate_id}}),
  (select lane from {{parked}} force index (primary) where gate = {{gate_id}} order by turn, start_by, id limit 1));

-- name: lock_first_parked
-- Locks the first parked jobs of a gate that no other transaction has locked. Several
-- of these are joined by union all.
-- Inputs: {{gate_id}}, {{limit}}.
-- Output: gate, turn, start_by, id, lane, attempt, failures, crashes.
-- Locks: rows of parked; skips locked rows.
(select gate, turn, start_by, id, lane, attempt, failures, crashes
from {{parked}} force index (primary)
where gate = {{gate_id}}
order by turn, start_by, id
limit {{limit}}
for update skip locked);

-- name: to_admitted
-- Gives places to jobs.
-- Inputs: {{rows}} of gate, id.
-- Output: none.
-- Locks: inserted rows.
insert into {{admitted}} (gate, id) values {{rows}};

-- name: drop_news
-- Removes gate_news rows that were read under the gates' locks.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of gate_news.
delete n from {{gate_news}} n force index (primary) where {{among}} and gate >= 0;

-- name: drop_gates
-- Removes the rows of locked gates that no job uses.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: the gates.
delete g
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{gate}} g force index (primary) on g.id = v.id;

-- name: gates_with_news
-- Lists gates that still have gate_news rows, in order.
-- Inputs: gate from which on to look, gate before which to end, limit.
-- Output: gate.
-- Locks: none.
select distinct gate from {{gate_news}} force index (gate) where gate >= ? and gate < ? order by gate limit ?;

-- name: parked_gates
-- Lists the gates with parked jobs, in about two index look-ups per gate.
-- Inputs: none.
-- Output: gate, lane of the first parked job (null if it is gone by now).
-- Locks: none.
select g.gate, (select p.lane from {{parked}} p force index (primary) where p.gate = g.gate order by p.turn, p.start_by, p.id limit 1)
from (select distinct gate from {{parked}} force index for group by (primary)) g;

-- name: gate_holders
-- Lists some of the jobs that have a place at a gate.
-- Inputs: gate, limit.
-- Output: id.
-- Locks: none.
select id from {{admitted}} force index (primary) where gate = ? order by id limit ?;

-- name: gate_ahead
-- Counts the jobs parked at a gate before a key.
-- Inputs: {{gate_id}}, {{turn}}, {{start_by}} and {{id}} of the key, {{limit}}.
-- Output: their number.
-- Locks: none.
select count(*) from (
  select 1 from {{parked}} force index (primary)
  where gate = {{gate_id}}
    and (turn < {{turn}} or turn = {{turn}} and (start_by < {{start_by}} or start_by = {{start_by}} and id < {{id}}))
  limit {{limit}}) first;
