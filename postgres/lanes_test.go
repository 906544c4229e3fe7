package postgres

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Who remembered a lane that was undone would store jobs in it, and no other
// process could find them.
func TestALaneIsKnownWhenItIsCommitted(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	exec(t, at, `create function undo() returns trigger language plpgsql as $$ begin raise exception 'undone'; end $$`)
	exec(t, at, `create constraint trigger undo after insert on fairlead_lane deferrable initially deferred for each row execute function undo()`)
	job := newJob(t)
	if err := store.Enqueue(t.Context(), []*fairlead.Job{job}); err == nil {
		t.Fatal("the lane was made")
	}
	if id, known := store.lanes.ID(sqlstore.KeyOf(job)); known {
		t.Errorf("lane %d was undone and is still known", id)
	}
}
