package postgres

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/storetest"
)

// A schedule that cannot be read holds up no other.
func TestSpoiledSchedule(t *testing.T) {
	s := open(t, testdb.Postgres(t), Options{})
	storetest.RunSpoiled(t, s, func(t *testing.T, schedule int64) {
		if _, err := s.pool.Exec(t.Context(), "update "+s.query.Expand("schedule")+` set body = '{"cron":[1]}' where id = $1`, schedule); err != nil {
			t.Fatal(err)
		}
	})
}
