-- Sweeps, how far their shards have come, and what is told of their items.

-- body is what people say of it, status how it stands, both JSON.
create table if not exists {{sweep}} (
  id bigint not null auto_increment primary key,
  name varbinary(200) not null,
  tenant varbinary(200) not null,
  state varbinary(16) not null,
  version bigint not null,
  created_at bigint not null,
  body mediumblob not null,
  status mediumblob not null,
  unique key name (name),
  key state (state),
  key tenant (tenant)
) engine = InnoDB;

-- What is steered of shards. internal/sqlstore tells what becomes of shares.
create table if not exists {{shard}} (
  sweep bigint not null,
  number int not null,
  job bigint not null default 0,
  share_rate double not null default 0,
  share_slots int not null default 0,
  share_number bigint not null default 0,
  share_fence bigint not null default 0,
  peak_rate double not null default 0,
  peak_slots int not null default 0,
  primary key (sweep, number)
) engine = InnoDB;

-- What their runs have stored, about once a second: apart, so that they do not wait
-- for those who steer, nor these for them.
create table if not exists {{shard_progress}} (
  sweep bigint not null,
  number int not null,
  from_index bigint not null,
  to_index bigint not null,
  ended tinyint not null,
  mark bigint not null,
  done bigint not null default 0,
  abandoned bigint not null default 0,
  errors bigint not null default 0,
  measured double not null default 0,
  used_rate double not null default 0,
  used_slots int not null default 0,
  told bigint not null default 0,
  fence bigint not null default 0,
  saved_at bigint not null default 0,
  bits blob,
  pending mediumblob,
  source mediumblob,
  primary key (sweep, number)
) engine = InnoDB;

create table if not exists {{failed_item}} (
  sweep bigint not null,
  idx bigint not null,
  attempts int not null,
  error blob not null,
  at bigint not null,
  primary key (sweep, idx)
) engine = InnoDB;

create table if not exists {{sweep_log}} (
  id bigint not null auto_increment primary key,
  sweep bigint not null,
  idx bigint not null,
  level blob not null,
  text blob not null,
  at bigint not null,
  key sweep (sweep, id),
  key item (sweep, idx, id)
) engine = InnoDB;

create table if not exists {{sweep_event}} (
  id bigint not null auto_increment primary key,
  sweep bigint not null,
  at bigint not null,
  actor blob not null,
  action blob not null,
  was varbinary(16) not null,
  became varbinary(16) not null,
  note blob not null,
  key sweep (sweep, id)
) engine = InnoDB;
