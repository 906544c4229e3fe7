package mysql

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/storetest"
)

// TestSpoiledSchedule checks that a schedule which cannot be read holds up no other.
func TestSpoiledSchedule(t *testing.T) {
	s, _ := openWithNode(t, testdb.MySQL(t))
	storetest.RunSpoiled(t, s, func(t *testing.T, schedule int64) {
		if _, err := s.db.ExecContext(t.Context(), "update "+s.expand("schedule")+" set body = '{\"cron\":' where id = ?", schedule); err != nil {
			t.Fatal(err)
		}
	})
}
