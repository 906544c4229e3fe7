package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Verify counts the tasks of each open batch again, corrects wrong counts, and returns
// them. It need not verify limits: their only count is that of the running jobs.
func (s *Store) Verify(ctx context.Context) ([]driver.Drift, error) {
	return sqlstore.VerifyBatches(ctx, s)
}
