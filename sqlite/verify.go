package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Verify counts the tasks of open batches anew. Limits have nothing to correct: the
// count of running jobs is the only one.
func (s *Store) Verify(ctx context.Context) ([]driver.Drift, error) {
	return sqlstore.VerifyBatches(ctx, s)
}
