-- Alerts of jobs.

-- Rules. body is what is declared, standing what was counted and reported, both as JSON.
create table if not exists {{alert}} (
  name varbinary(200) not null primary key,
  scope varbinary(210) not null,
  created_at bigint not null,
  updated_at bigint not null,
  body mediumblob not null,
  standing mediumblob
) engine = InnoDB;

-- The last look for what is to be reported: one row. All that ended before seen is counted.
create table if not exists {{alert_look}} (
  id tinyint not null primary key,
  version bigint not null,
  looked_at bigint not null,
  seen bigint not null
) engine = InnoDB;

-- Jobs that started later than was acceptable, in some ten seconds.
create table if not exists {{missed_start}} (
  bucket bigint not null,
  queue varbinary(200) not null,
  tenant varbinary(200) not null,
  kind varbinary(200) not null,
  jobs bigint not null,
  primary key (bucket, queue, tenant, kind)
) engine = InnoDB;
