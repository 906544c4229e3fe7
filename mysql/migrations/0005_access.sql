-- Who may use the service and what they did; requests that count once; secrets
-- that all processes share; nodes that were asked to start nothing more.

-- tenants is a JSON array, null if the token is bound to none. Of the secret
-- only its hash is kept.
create table if not exists {{token}} (
  id bigint not null auto_increment primary key,
  name varbinary(200) not null,
  hash binary(32) not null,
  role varbinary(32) not null,
  tenants blob,
  created_at bigint not null,
  expires_at bigint not null,
  last_used bigint not null,
  unique key name (name),
  unique key hash (hash)
) engine = InnoDB;

create table if not exists {{audit}} (
  id bigint not null auto_increment primary key,
  at bigint not null,
  actor varbinary(255) not null,
  role varbinary(32) not null,
  address varbinary(255) not null,
  action varbinary(255) not null,
  subject varbinary(1000) not null,
  tenant varbinary(200) not null,
  was longblob,
  became longblob,
  error blob not null,
  key time (at),
  key actor (actor, id),
  key action (action, id),
  key subject (subject, id)
) engine = InnoDB;

-- The audit log for people.
create or replace sql security invoker view {{audit_view}} as
select id,
       timestampadd(microsecond, at, timestamp'1970-01-01 00:00:00') as at,
       convert(actor using utf8mb4) as actor,
       convert(role using utf8mb4) as role,
       convert(address using utf8mb4) as address,
       convert(action using utf8mb4) as action,
       convert(subject using utf8mb4) as subject,
       convert(tenant using utf8mb4) as tenant,
       convert(was using utf8mb4) as was,
       convert(became using utf8mb4) as became,
       convert(error using utf8mb4) as error
from {{audit}};

-- Requests that were answered: job_ids is a JSON array.
create table if not exists {{once}} (
  caller varbinary(255) not null,
  once_key varbinary(255) not null,
  request binary(32) not null,
  job_ids longblob not null,
  created_at bigint not null,
  primary key (caller, once_key),
  key age (created_at)
) engine = InnoDB;

create table if not exists {{secret}} (
  name varbinary(200) not null primary key,
  value varbinary(255) not null
) engine = InnoDB;

alter table {{node}} add column draining tinyint not null default 0;

alter table {{tenant}} add column start_url varbinary(2000) not null default '';

alter table {{tenant}} add column fail_url varbinary(2000) not null default '';

alter table {{tenant}} add column timeout_url varbinary(2000) not null default '';
