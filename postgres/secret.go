package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Secret returns the secret of a name, made when it is first asked for.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	var secret []byte
	look := call{sql: s.sql.Secret, args: []any{name}, each: func(row sqlstore.Scanner) error { return row.Scan(&secret) }}
	err := s.run(ctx, look)
	if err == nil && secret == nil {
		err = s.run(ctx, call{sql: s.sql.AddSecret, args: []any{name, sqlstore.NewSecret()}}, look)
	}
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return secret, nil
}
