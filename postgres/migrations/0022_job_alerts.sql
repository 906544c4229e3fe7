-- Alerts of jobs.

-- Rules. body is what is declared, standing what was counted and reported, both as JSON.
create table {{alert}} (
    created_at bigint not null,
    updated_at bigint not null,
    name       text collate "C" primary key,
    scope      text collate "C" not null,
    body       json not null,
    standing   json
) with (fillfactor = 50);

-- The last look for what is to be reported: one row. All that ended before seen is counted.
create table {{alert_look}} (
    version   bigint not null,
    looked_at bigint not null,
    seen      bigint not null,
    id        smallint primary key
) with (fillfactor = 50);

-- Jobs that started later than was acceptable, in some ten seconds.
create table {{missed_start}} (
    bucket bigint not null,
    jobs   bigint not null,
    queue  text collate "C" not null,
    tenant text collate "C" not null,
    kind   text collate "C" not null,
    primary key (bucket, queue, tenant, kind)
) with (fillfactor = 50);
