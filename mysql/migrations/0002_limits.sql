-- Tenants and limits. The counter 'pause' is the version of all rules from now
-- on: of what is paused, of tenants and of limits.

create table if not exists {{tenant}} (
  name varbinary(200) not null primary key,
  parent varbinary(200) not null,
  max_pending int not null,
  weight int not null,
  labels mediumblob,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
) engine = InnoDB;

-- Caps and rates, those of tenants too, with their use. A row stays when its
-- limit is removed, and its id is never given to another.
create table if not exists {{quota}} (
  id int not null auto_increment primary key,
  scope varbinary(16) not null,
  name varbinary(200) not null,
  cap int not null,
  least int not null,
  rate double not null,
  burst int not null,
  used int not null,
  tokens double not null,
  refilled_at bigint not null,
  unique key names (scope, name)
) engine = InnoDB;

-- Slots that were given back and are still counted in quota.used. Whoever
-- gives back only inserts; whoever has locked the quota takes them off.
create table if not exists {{quota_delta}} (
  id bigint not null auto_increment primary key,
  quota int not null,
  n int not null,
  key quota (quota)
) engine = InnoDB;

-- Sets of quotas that jobs count against together: their ids in order, with
-- spaces between. They never change.
create table if not exists {{holdset}} (
  id int not null auto_increment primary key,
  members varbinary(255) not null,
  unique key members (members)
) engine = InnoDB;

-- The set that a job counts against; 0 if there is none.
alter table {{running}} add column held int not null default 0;

alter table {{waiting}} add column held int not null default 0;
