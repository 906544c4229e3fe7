-- What lists and counts look for, so that what they read follows what they answer.

-- The pending jobs of a tenant, which are counted before more are stored.
create index {{later_by_lane}} on {{later}} (lane);

-- The few errors among the lines of a sweep.
create index {{sweep_log_by_level}} on {{sweep_log}} (sweep, level);

-- The few failed items that wait to be tried again.
create index {{failed_item_again}} on {{failed_item}} (sweep, idx) where again = 1;
