-- Tenants and limits. A limit has no count of its own here: whoever claims is
-- alone with the file and counts the running jobs of each lane.

insert into {{counter}} (name, value) values ('rules', 0);

create table {{tenant}} (
  name        text    not null primary key,
  parent      text    not null,
  max_pending integer not null,
  weight      integer not null,
  labels      text,
  version     integer not null,
  created_at  integer not null,
  updated_at  integer not null
) without rowid;

-- Caps and rates, those of tenants too. A row stays when its limit is removed.
create table {{quota}} (
  id          integer primary key,
  scope       text    not null,
  name        text    not null,
  cap         integer not null,
  least       integer not null,
  rate        real    not null,
  burst       integer not null,
  tokens      real    not null,
  refilled_at integer not null,
  unique (scope, name)
);
