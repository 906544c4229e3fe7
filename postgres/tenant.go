package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// readBounds reads how many jobs of tenants may be pending.
func (s *Store) readBounds(ctx context.Context) (map[string]int, error) {
	var bounds map[string]int
	err := s.runPlain(ctx, call{sql: s.sql.Bounds, restart: func() { bounds = map[string]int{} }, each: func(row sqlstore.Scanner) error {
		var name string
		var most int
		err := row.Scan(&name, &most)
		bounds[name] = most
		return err
	}}, s.numberCall())
	return bounds, err
}
