-- Every statement commits by itself here, so each can be run a second time.
-- Text is kept as bytes: a collation would take 'Acme' and 'acme ' for one
-- name. The view at the end is for people.

-- What a job is. turn, start_by and not_before change only together with the
-- job's place; the rest never does.
create table if not exists {{job}} (
  id bigint not null primary key,
  lane int not null,
  turn smallint not null,
  start_by bigint not null,
  not_before bigint not null default 0,
  created_at bigint not null,
  job_key varbinary(255),
  flags smallint not null default 0,
  policy blob,
  trace varbinary(255),
  args mediumblob,
  key job_key (job_key)
) engine = InnoDB;

create table if not exists {{lane}} (
  id int not null auto_increment primary key,
  queue varbinary(200) not null,
  tenant varbinary(200) not null,
  kind varbinary(200) not null,
  unique key names (queue, tenant, kind)
) engine = InnoDB;

create table if not exists {{later}} (
  id bigint not null primary key,
  lane int not null,
  not_before bigint not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  key due (not_before)
) engine = InnoDB;

-- Clustered in the order of claims: a claim reads the first rows of its lanes.
create table if not exists {{ready}} (
  lane int not null,
  solo tinyint not null,
  turn smallint not null,
  start_by bigint not null,
  id bigint not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  primary key (lane, solo, turn, start_by, id)
) engine = InnoDB;

-- Without an index by node: it would cost every job more than scanning the few
-- rows that there are at a time costs a node.
create table if not exists {{running}} (
  id bigint not null primary key,
  fence bigint not null,
  node bigint not null,
  lane int not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  started_at bigint not null,
  wish blob,
  answer longblob
) engine = InnoDB;

create table if not exists {{waiting}} (
  id bigint not null primary key,
  fence bigint not null,
  node bigint not null,
  lane int not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  started_at bigint not null,
  deadline bigint not null,
  key deadline (deadline)
) engine = InnoDB;

create table if not exists {{done}} (
  id bigint not null primary key,
  lane int not null,
  outcome tinyint not null,
  reason varbinary(32),
  fence bigint not null,
  node bigint not null,
  attempt int not null,
  failures int not null,
  crashes int not null,
  started_at bigint not null,
  finished_at bigint not null,
  output mediumblob,
  error blob,
  key age (outcome, finished_at)
) engine = InnoDB;

create table if not exists {{attempt}} (
  id bigint not null,
  run int not null,
  fence bigint not null,
  node bigint not null,
  started_at bigint not null,
  finished_at bigint not null,
  reason varbinary(32) not null,
  error blob not null,
  primary key (id, run)
) engine = InnoDB;

create table if not exists {{memo}} (
  id bigint not null primary key,
  memo mediumblob,
  progress mediumblob
) engine = InnoDB;

create table if not exists {{jobkey}} (
  tenant varbinary(200) not null,
  job_key varbinary(255) not null,
  id bigint not null,
  primary key (tenant, job_key)
) engine = InnoDB;

create table if not exists {{node}} (
  id bigint not null auto_increment primary key,
  name blob not null,
  info mediumblob not null,
  idle int not null,
  queued int not null,
  joined_at bigint not null,
  last_beat bigint not null,
  lease_until bigint not null,
  dead tinyint not null
) engine = InnoDB;

create table if not exists {{pause}} (
  scope varbinary(16) not null,
  name varbinary(200) not null,
  primary key (scope, name)
) engine = InnoDB;

-- Only its counter is used, which never goes back. A node has one row, which
-- its next claim replaces.
create table if not exists {{fence}} (
  node bigint not null primary key,
  id bigint not null auto_increment,
  unique key id (id)
) engine = InnoDB;

-- job: the last job id given out. pause: grows with every change of what is
-- paused; a claim holds it shared. wish: grows with every wish to cancel.
create table if not exists {{counter}} (
  name varbinary(16) not null primary key,
  value bigint not null
) engine = InnoDB;

insert ignore into {{counter}} (name, value) values ('job', 0), ('pause', 0), ('wish', 0);

-- Ports on which processes hear of news. host tells whose loopback it is.
create table if not exists {{listener}} (
  address varbinary(255) not null primary key,
  host    varbinary(255) not null,
  expires bigint not null
) engine = InnoDB;

-- Where every job stands, readable. Times are UTC.
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
