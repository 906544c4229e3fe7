-- Bulks: the same done to all jobs that match a filter.

-- What is done, how far it is, and what came of it. A bulk has the id of the job that carries
-- it out. below is the id below which the next step begins, 0 before the first. body is what
-- was asked for, as JSON.
create table {{bulk}} (
    id          bigint primary key,
    created_at  bigint not null,
    started_at  bigint not null,
    finished_at bigint not null,
    below       bigint not null,
    matched     bigint not null,
    done        bigint not null,
    missed      bigint not null,
    more        boolean not null,
    stopping    boolean not null,
    stopped     boolean not null,
    body        json not null
) with (fillfactor = 50);

-- Jobs that a bulk has left as they were.
create table {{bulk_miss}} (
    bulk bigint not null,
    job  bigint not null,
    why  text collate "C" not null,
    primary key (bulk, job)
);
