-- What tells whether a task of a batch may have been applied.

-- Whether a run of the job was released after its handler had begun: the number of the
-- attempt is used again, so it does not show that.
alter table {{memo}} add column released integer not null default 0;

-- When commits may have been lost: fences and ids of jobs that were given out since are
-- larger than these.
alter table {{server}} add column losses text not null default '[]';
