-- Alerts of jobs.

-- Rules. body is what is declared, standing what was counted and reported, both as JSON.
create table {{alert}} (
  name       text    not null primary key,
  scope      text    not null,
  created_at integer not null,
  updated_at integer not null,
  body       text    not null,
  standing   text
) without rowid;

-- The last look for what is to be reported: one row. All that ended before seen is counted.
create table {{alert_look}} (
  id        integer primary key,
  version   integer not null,
  looked_at integer not null,
  seen      integer not null
);

-- Jobs that started later than was acceptable, in some ten seconds.
create table {{missed_start}} (
  bucket integer not null,
  queue  text not null,
  tenant text not null,
  kind   text not null,
  jobs   integer not null,
  primary key (bucket, queue, tenant, kind)
) without rowid;
