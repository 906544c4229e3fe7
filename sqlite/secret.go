package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Secret returns the secret of a name, made when it is first asked for.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	return inTx(ctx, s, "secret", func(t *txn) ([]byte, error) {
		var secret []byte
		found, err := t.one(t.sql.Secret, []any{name}, &secret)
		if err != nil || found {
			return secret, err
		}
		secret = sqlstore.NewSecret()
		return secret, t.must(1, t.sql.AddSecret, name, secret)
	})
}
