-- Bulks: the same done to all jobs that match a filter.

-- What is done, how far it is, and what came of it. A bulk has the id of the job that carries
-- it out. below is the id below which the next step begins, 0 before the first. body is what
-- was asked for, as JSON.
create table if not exists {{bulk}} (
  id bigint not null primary key,
  created_at bigint not null,
  started_at bigint not null,
  finished_at bigint not null,
  stopping tinyint not null,
  stopped tinyint not null,
  below bigint not null,
  matched bigint not null,
  more tinyint not null,
  done bigint not null,
  missed bigint not null,
  body mediumblob not null
) engine = InnoDB;

-- Jobs that a bulk has left as they were.
create table if not exists {{bulk_miss}} (
  bulk bigint not null,
  job bigint not null,
  why varbinary(1000) not null,
  primary key (bulk, job)
) engine = InnoDB;
