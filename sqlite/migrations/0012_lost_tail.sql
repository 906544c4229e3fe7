-- What a process needs to notice that the database lost its last commits: see
-- docs/decisions/0018.

-- Names the process that joined; '' of processes that are older than this. A node
-- whose id was given to another finds another's token in its row.
alter table {{node}} add column token text not null default '';

-- When the lane was given up, 0 while it is in use. Nothing is stored into a lane
-- that was given up.
alter table {{lane}} add column retired_at integer not null default 0;

-- How often the database was put back to an earlier state; one row. The server is
-- this process: its name stays empty.
create table {{server}} (
  id     integer primary key,
  number integer not null,
  name   text not null
);

insert into {{server}} (id, number, name) values (1, 0, '');
