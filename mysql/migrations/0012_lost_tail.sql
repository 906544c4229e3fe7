-- What a process needs to notice that the database lost its last commits: see
-- docs/decisions/0018.

-- Names the process that joined; '' of processes that are older than this. A node
-- whose id was given to another finds another's token in its row.
alter table {{node}} add column token varbinary(64) not null default '';

-- When the lane was given up, 0 while it is in use. Nothing is stored into a lane
-- that was given up.
alter table {{lane}} add column retired_at bigint not null default 0;

-- The server that all processes have last agreed on, and how many there were; one
-- row.
create table if not exists {{server}} (
  id tinyint not null primary key,
  number bigint not null,
  name varbinary(255) not null
) engine = InnoDB;

insert ignore into {{server}} (id, number, name) values (1, 0, '');
