-- How many jobs of a tenant were started in some ten seconds, and how many of
-- them too late.
create table {{starts}} (
    bucket  bigint not null,
    started bigint not null,
    missed  bigint not null,
    tenant  text collate "C" not null,
    primary key (bucket, tenant)
) with (fillfactor = 50);
