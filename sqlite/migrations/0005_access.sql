-- Who may use the service and what they did; requests that count once; secrets
-- that all processes share; nodes that were asked to start nothing more.

insert into {{counter}} (name, value) values ('token', 0), ('audit', 0);

-- tenants is a JSON array, null if the token is bound to none. Of the secret
-- only its hash is kept.
create table {{token}} (
  id         integer primary key,
  name       text    not null unique,
  hash       blob    not null unique,
  role       text    not null,
  tenants    text,
  created_at integer not null,
  expires_at integer not null,
  last_used  integer not null
);

create table {{audit}} (
  id         integer primary key,
  at         integer not null,
  actor      text    not null,
  role       text    not null,
  address    text    not null,
  action     text    not null,
  subject    text    not null,
  tenant     text    not null,
  was        text,
  became     text,
  error      text    not null
);

create index {{audit_by_time}} on {{audit}} (at);

create index {{audit_by_actor}} on {{audit}} (actor);

create index {{audit_by_action}} on {{audit}} (action);

create index {{audit_by_subject}} on {{audit}} (subject);

-- Requests that were answered: job_ids is a JSON array.
create table {{once}} (
  caller     text    not null,
  once_key   text    not null,
  request    blob    not null,
  job_ids    text    not null,
  created_at integer not null,
  primary key (caller, once_key)
) without rowid;

create index {{once_by_age}} on {{once}} (created_at);

create table {{secret}} (
  name  text not null primary key,
  value blob not null
) without rowid;

alter table {{node}} add column draining integer not null default 0;

alter table {{tenant}} add column start_url text not null default '';

alter table {{tenant}} add column fail_url text not null default '';

alter table {{tenant}} add column timeout_url text not null default '';
