package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddToken stores a token.
func (s *Store) AddToken(ctx context.Context, token access.Token) (access.Token, error) {
	tenants, err := sqlstore.EncodeNames(token.Tenants)
	if err != nil {
		return access.Token{}, err
	}
	return inTx(ctx, s, "add token", func(t *txn) (access.Token, error) { return t.addToken(token, tenants) })
}

func (t *txn) addToken(token access.Token, tenants []byte) (access.Token, error) {
	var other int64
	taken, err := t.one(t.sql.TokenTaken, []any{token.Name, token.Hash[:]}, &other)
	if err != nil {
		return access.Token{}, err
	}
	if taken {
		return access.Token{}, sqlstore.TokenTaken(token.Name)
	}
	id, err := t.next(tokenCounter, 1)
	if err != nil {
		return access.Token{}, err
	}
	err = t.must(1, t.sql.AddToken, id, token.Name, string(token.Role), text(tenants), token.Hash[:], t.now, sqlstore.Micros(token.ExpiresAt))
	if err != nil {
		return access.Token{}, err
	}
	stored, _, err := t.findToken(token.Hash)
	return stored, err
}

// FindToken finds a token by its hash.
func (s *Store) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	return read(ctx, s, "find token", func(t *txn) (access.Token, error) {
		token, found, err := t.findToken(hash)
		if err == nil && !found {
			err = sqlstore.UnknownToken()
		}
		return token, err
	})
}

func (t *txn) findToken(hash [32]byte) (token access.Token, found bool, err error) {
	err = t.each(t.sql.FindToken, []any{t.now, hash[:]}, func(row sqlstore.Scanner) (err error) {
		found = true
		token, err = sqlstore.ScanToken(row)
		return err
	})
	return token, found, err
}

// Tokens lists all tokens.
func (s *Store) Tokens(ctx context.Context) ([]access.Token, error) {
	return read(ctx, s, "list tokens", func(t *txn) ([]access.Token, error) {
		var tokens []access.Token
		err := t.each(t.sql.Tokens, []any{t.now}, func(row sqlstore.Scanner) error {
			token, err := sqlstore.ScanToken(row)
			tokens = append(tokens, token)
			return err
		})
		return tokens, err
	})
}

// DeleteToken removes a token.
func (s *Store) DeleteToken(ctx context.Context, id int64) error {
	_, err := inTx(ctx, s, "delete token", func(t *txn) (none, error) {
		hit, err := t.exec(t.sql.DeleteToken, id)
		if err == nil && hit == 0 {
			t.wrote = false
			err = sqlstore.NoSuchToken(id)
		}
		return none{}, err
	})
	return err
}

// TouchToken notes that a token was used now.
func (s *Store) TouchToken(ctx context.Context, id int64) error {
	_, err := inTx(ctx, s, "touch token", func(t *txn) (int64, error) {
		return t.exec(t.sql.TouchToken, t.now, id, t.now-sqlstore.TouchEvery.Microseconds())
	})
	return err
}
