-- Bulks: the same done to all jobs that match a filter.

-- What is done, how far it is, and what came of it. A bulk has the id of the job that carries
-- it out. below is the id below which the next step begins, 0 before the first. body is what
-- was asked for, as JSON.
create table {{bulk}} (
  id          integer primary key,
  created_at  integer not null,
  started_at  integer not null,
  finished_at integer not null,
  stopping    integer not null,
  stopped     integer not null,
  below       integer not null,
  matched     integer not null,
  more        integer not null,
  done        integer not null,
  missed      integer not null,
  body        text    not null
);

-- Jobs that a bulk has left as they were.
create table {{bulk_miss}} (
  bulk integer not null,
  job  integer not null,
  why  text    not null,
  primary key (bulk, job)
) without rowid;
