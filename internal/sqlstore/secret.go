package sqlstore

import (
	"context"
	"crypto/rand"
)

// secretBytes is the size of a secret, equal to the largest useful key size of
// HMAC-SHA-256.
const secretBytes = 32

// newSecret returns a new random secret.
func newSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// secretStore stores secrets.
type secretStore struct {
	db  Database
	sql *SecretStatements
}

// SecretStatements holds the SQL statements of secretStore.
type SecretStatements struct {
	Secret      string `sql:"secret"`
	AddSecret   string `sql:"add_secret"`
	AddedSecret string `sql:"added_secret"`
}

// Secret returns the secret with a name, and creates it on first use.
func (s *secretStore) Secret(ctx context.Context, name string) ([]byte, error) {
	found, err := readList(ctx, s.db.Read, "secret", scanBytes, s.sql.Secret, name)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	var kept *[][]byte
	err = s.db.InTx(ctx, "secret", func(_ context.Context, db DB) error {
		db.Queue(s.sql.AddSecret, name, newSecret())
		// If another process was faster, this is the secret that it created.
		kept = queueList(db, scanBytes, s.sql.AddedSecret, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return (*kept)[0], nil
}

func scanBytes(row Scanner) (value []byte, err error) {
	err = row.Scan(&value)
	return value, err
}
