-- What targets tell of jobs that wait. It is about the run of one fence: later ones
-- do not show it.

alter table {{memo}} add column told text;

alter table {{memo}} add column told_fence integer;
