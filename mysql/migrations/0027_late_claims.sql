-- Tells the jobs that a dead node may have started from those that it never did: see
-- docs/decisions/0039.

-- Fences of the jobs that the node held when it was marked dead, with commas between.
-- Null while it lives, and if an earlier version marked it.
alter table {{node}} add column held_fences mediumblob;
