-- What kept jobs waiting.

-- Times in which a cause kept ready jobs of some lanes from starting: those that have all of
-- its names, of which an empty one is that of any. A hold that lasts ends in the far future.
create table if not exists {{hold}} (
  id bigint not null primary key,
  code varbinary(16) not null,
  scope varbinary(16) not null,
  queue varbinary(200) not null,
  tenant varbinary(200) not null,
  kind varbinary(200) not null,
  gate varbinary(255) not null,
  from_at bigint not null,
  until_at bigint not null,
  used int not null,
  cap int not null,
  index until_at (until_at)
) engine = InnoDB;

-- The last look at what waits: one row. What was before since_at is not known.
create table if not exists {{hold_look}} (
  id tinyint not null primary key,
  version bigint not null,
  looked_at bigint not null,
  due_at bigint not null,
  since_at bigint not null,
  last_id bigint not null
) engine = InnoDB;
