-- How much the cluster ran: one row for each ten seconds of the last day.
create table {{sample}} (
  bucket  integer primary key,
  started integer not null,
  running integer not null
);
