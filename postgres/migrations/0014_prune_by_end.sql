-- What Prune looks for of successes, as the index of the other outcomes. A job costs
-- it about a microsecond of the server and 67 bytes of its log: see
-- docs/decisions/0019. Successes that ended together share an entry.
create index concurrently {{done_by_end_index}} on {{done}} (finished_at) where outcome = 1;
