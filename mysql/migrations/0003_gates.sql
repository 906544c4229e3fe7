-- Gates: jobs with a concurrency key wait in parked until they are admitted.

-- The gate that the job has to pass; null if it has none. It never changes.
alter table {{job}} add column gate bigint;

-- Of a kind: places of each of its gates; 0 means one.
alter table {{quota}} add column per_key int not null default 0;

-- Due jobs without a place, clustered in the order in which they are admitted.
create table if not exists {{parked}} (
  gate bigint not null,
  turn smallint not null,
  start_by bigint not null,
  id bigint not null,
  lane int not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  primary key (gate, turn, start_by, id)
) engine = InnoDB;

-- Who has a place: from its admission until it ends, is deleted or is put off.
create table if not exists {{admitted}} (
  gate bigint not null,
  id bigint not null,
  primary key (gate, id)
) engine = InnoDB;

-- What is locked while a gate admits. It has rows of gates that are in use.
create table if not exists {{gate}} (
  id bigint not null primary key
) engine = InnoDB;

-- Gates at which there may be somebody to admit. Whoever parks a job or gives
-- back a place only inserts; whoever has locked the gate takes it off.
create table if not exists {{gate_news}} (
  id bigint not null auto_increment primary key,
  gate bigint not null,
  key gate (gate)
) engine = InnoDB;

-- Where every job stands, now with those that are parked.
create or replace sql security invoker view {{job_view}} as
select j.id,
       convert(p.state using utf8mb4) as state,
       convert(l.queue using utf8mb4) as queue,
       convert(l.tenant using utf8mb4) as tenant,
       convert(l.kind using utf8mb4) as kind,
       -j.turn as priority,
       p.attempt, p.failures, p.crashes, p.fence, p.node,
       timestampadd(microsecond, nullif(p.due, 0), timestamp'1970-01-01 00:00:00') as due,
       timestampadd(microsecond, j.start_by, timestamp'1970-01-01 00:00:00') as start_by,
       timestampadd(microsecond, j.created_at, timestamp'1970-01-01 00:00:00') as created_at,
       timestampadd(microsecond, nullif(p.started_at, 0), timestamp'1970-01-01 00:00:00') as started_at,
       timestampadd(microsecond, nullif(p.finished_at, 0), timestamp'1970-01-01 00:00:00') as finished_at,
       convert(j.job_key using utf8mb4) as job_key,
       convert(j.args using utf8mb4) as args,
       convert(p.output using utf8mb4) as output,
       convert(p.reason using utf8mb4) as reason,
       convert(p.error using utf8mb4) as error
from (
  select id, 'scheduled' as state, attempt, failures, crashes, 0 as fence, 0 as node,
         not_before as due, 0 as started_at, 0 as finished_at, null as output, null as reason, null as error
  from {{later}}
  union all
  select id, 'ready', attempt, failures, crashes, 0, 0, 0, 0, 0, null, null, null
  from {{ready}}
  union all
  select id, 'parked', attempt, failures, crashes, 0, 0, 0, 0, 0, null, null, null
  from {{parked}}
  union all
  select id, 'running', attempt, failures, crashes, fence, node, 0, started_at, 0, null, null, wish
  from {{running}}
  union all
  select id, 'waiting', attempt, failures, crashes, fence, node, deadline, started_at, 0, null, null, null
  from {{waiting}}
  union all
  select id, case outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end,
         attempt, failures, crashes, fence, node, 0, started_at, finished_at, output, reason, error
  from {{done}}
) p
join {{job}} j on j.id = p.id
join {{lane}} l on l.id = j.lane;
