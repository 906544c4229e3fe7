package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// touchEvery is the minimum interval between recorded uses of a token.
const touchEvery = time.Minute

// tokenStore stores tokens.
type tokenStore struct {
	db  Database
	sql *TokenStatements
}

// TokenStatements holds the SQL statements of tokenStore.
type TokenStatements struct {
	AddToken    string `sql:"add_token"`
	FindToken   string `sql:"find_token"`
	Tokens      string `sql:"tokens"`
	DeleteToken string `sql:"delete_token"`
	TouchToken  string `sql:"touch_token"`
}

// AddToken stores a token.
func (s *tokenStore) AddToken(ctx context.Context, token access.Token) (access.Token, error) {
	var bindings [3]any
	for i, names := range [][]string{token.Tenants, token.Kinds, token.Queues} {
		encoded, err := encodeNames(names)
		if err != nil {
			return access.Token{}, fmt.Errorf("add token: %w", err)
		}
		bindings[i] = JSON(encoded)
	}
	var added *int64
	var stored *[]access.Token
	err := s.db.InTx(ctx, "add token", func(_ context.Context, db DB) error {
		added = db.Queue(s.sql.AddToken, token.Name, string(token.Role), bindings[0], bindings[1], bindings[2], token.Hash[:], Micros(token.ExpiresAt))
		stored = queueList(db, scanToken, s.sql.FindToken, token.Hash[:])
		return nil
	})
	switch {
	case err != nil:
		return access.Token{}, err
	case *added == 0:
		return access.Token{}, fmt.Errorf("add token: a token with the name %q or the same secret already exists: %w", token.Name, fairlead.ErrConflict)
	}
	return (*stored)[0], nil
}

// FindToken returns the token with a hash, or ErrNotFound.
func (s *tokenStore) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	found, err := readList(ctx, s.db.Read, "find token", scanToken, s.sql.FindToken, hash[:])
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("find token: no token has this secret: %w", fairlead.ErrNotFound)
	}
	if err != nil {
		return access.Token{}, err
	}
	return found[0], nil
}

// Tokens lists all tokens.
func (s *tokenStore) Tokens(ctx context.Context) ([]access.Token, error) {
	return readList(ctx, s.db.ReadAll, "list tokens", scanToken, s.sql.Tokens)
}

// DeleteToken removes a token.
func (s *tokenStore) DeleteToken(ctx context.Context, id int64) error {
	gone, err := exec(ctx, s.db, "delete token", s.sql.DeleteToken, id)
	if err == nil && gone == 0 {
		err = fmt.Errorf("delete token: token %d: %w", id, fairlead.ErrNotFound)
	}
	return err
}

// TouchToken records that a token was used now.
func (s *tokenStore) TouchToken(ctx context.Context, id int64) error {
	_, err := exec(ctx, s.db, "touch token", s.sql.TouchToken, id, touchEvery.Microseconds())
	return err
}

// encodeNames returns a list of names as JSON, or nil if it is empty.
func encodeNames(names []string) ([]byte, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return json.Marshal(names)
}

// scanToken reads id, name, role, tenants, kinds, queues, hash, created_at, expires_at,
// last_used and whether the token has expired.
func scanToken(row Scanner) (t access.Token, err error) {
	var tenants, kinds, queues, hash []byte
	var created, expires, used int64
	if err := row.Scan(&t.ID, &t.Name, &t.Role, &tenants, &kinds, &queues, &hash, &created, &expires, &used, &t.Expired); err != nil {
		return t, err
	}
	if len(hash) != len(t.Hash) {
		return t, fmt.Errorf("hash of token %d has %d bytes, want %d", t.ID, len(hash), len(t.Hash))
	}
	copy(t.Hash[:], hash)
	t.CreatedAt, t.ExpiresAt, t.LastUsed = Time(created), Time(expires), Time(used)
	for _, binding := range []struct {
		what  string
		raw   []byte
		names *[]string
	}{{"tenants", tenants, &t.Tenants}, {"kinds", kinds, &t.Kinds}, {"queues", queues, &t.Queues}} {
		if *binding.names, err = decodeNames(binding.raw); err != nil {
			return t, fmt.Errorf("%s of token %d: %w", binding.what, t.ID, err)
		}
	}
	return t, nil
}

// decodeNames decodes the result of encodeNames. An empty stored list, which binds the
// token to no name at all, differs from an absent one.
func decodeNames(raw []byte) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	names := []string{}
	if err := json.Unmarshal(raw, &names); err != nil {
		return nil, err
	}
	if names == nil {
		names = []string{}
	}
	return names, nil
}
