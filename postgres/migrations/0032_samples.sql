-- How much the cluster ran: one row for each ten seconds of the last day.
create table {{sample}} (
    bucket  bigint primary key,
    started bigint not null,
    running bigint not null
);
