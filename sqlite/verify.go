package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Verify recounts the tasks of each open batch, corrects wrong counts and returns them. It
// does not verify limits, because the store keeps no separate counts for them: it counts the
// running jobs.
func (s *Store) Verify(ctx context.Context) ([]driver.Drift, error) {
	return sqlstore.VerifyBatches(ctx, s)
}
