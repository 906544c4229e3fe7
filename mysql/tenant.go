package mysql

import (
	"context"
	"database/sql"
)

// readBounds reads how many jobs of tenants may be pending.
func (s *Store) readBounds(ctx context.Context) (map[string]int, error) {
	bounds := map[string]int{}
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var name string
		var most int
		err := row.Scan(&name, &most)
		bounds[name] = most
		return err
	}, s.sql.Bounds)
	return bounds, err
}
