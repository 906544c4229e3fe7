package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Secret returns the secret of a name, made when it is first asked for.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	secret, err := s.readSecret(ctx, name, "")
	if errors.Is(err, sql.ErrNoRows) {
		if _, err = s.execAlone(ctx, s.db, s.sql.AddSecret, name, sqlstore.NewSecret()); err == nil {
			// It may be that of somebody who was faster, whose commit a plain read need
			// not see yet.
			secret, err = s.readSecret(ctx, name, " lock in share mode")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return secret, nil
}

func (s *Store) readSecret(ctx context.Context, name, how string) (secret []byte, err error) {
	err = one(ctx, s.db, []any{&secret}, s.sql.Secret+how, name)
	return secret, err
}
