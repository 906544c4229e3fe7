-- Batches of tasks.

-- body is what was declared and status how it stands, both JSON. state is taken from
-- status. ended_at is 0 while it has not completed. open is 1 while it is still to be
-- acted upon.
create table if not exists {{batch}} (
  id bigint not null auto_increment primary key,
  name varbinary(200) not null,
  type varbinary(200) not null,
  queue varbinary(200) not null,
  tenant varbinary(200) not null,
  created_at bigint not null,
  opened tinyint not null,
  open tinyint not null,
  ended_at bigint not null,
  state varbinary(32) not null,
  status mediumblob not null,
  body mediumblob not null,
  key name (name),
  key tenant (tenant),
  key open (open),
  key age (state, ended_at),
  key opened (opened, created_at)
) engine = InnoDB;

-- Parts, without what their tasks have to do. Whether there are any tasks held or out
-- are columns of their own, as these change less often than how many.
create table if not exists {{part}} (
  batch bigint not null,
  number int not null,
  pass int not null,
  kind varbinary(16) not null,
  first_job bigint not null,
  size int not null,
  held int not null,
  out_ int not null,
  any_held tinyint generated always as (held > 0) stored,
  any_out tinyint generated always as (out_ > 0) stored,
  marks mediumblob not null,
  primary key (batch, number),
  key held (batch, any_held, kind, number),
  key outside (batch, any_out, number)
) engine = InnoDB;

-- What the tasks of a part have to do: written once.
create table if not exists {{part_task}} (
  batch bigint not null,
  number int not null,
  tasks longblob not null,
  primary key (batch, number)
) engine = InnoDB;
