-- The index of failed jobs by lane is partial, which MySQL does not have: every job would be in it.
do 0;
