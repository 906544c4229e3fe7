package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddToken stores a token.
func (s *Store) AddToken(ctx context.Context, token access.Token) (access.Token, error) {
	tenants, err := sqlstore.EncodeNames(token.Tenants)
	if err != nil {
		return access.Token{}, fmt.Errorf("add token: %w", err)
	}
	var stored []access.Token
	err = s.run(ctx, tokenCall(&stored, s.sql.AddToken,
		token.Name, string(token.Role), jsonText(tenants), token.Hash[:], sqlstore.Micros(token.ExpiresAt)))
	if err == nil && len(stored) == 0 {
		err = sqlstore.TokenTaken(token.Name)
	}
	if err != nil {
		return access.Token{}, fmt.Errorf("add token: %w", err)
	}
	return stored[0], nil
}

// FindToken finds a token by its hash.
func (s *Store) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	var found []access.Token
	err := s.run(ctx, tokenCall(&found, s.sql.FindToken, hash[:]))
	if err == nil && len(found) == 0 {
		err = sqlstore.UnknownToken()
	}
	if err != nil {
		return access.Token{}, fmt.Errorf("find token: %w", err)
	}
	return found[0], nil
}

// Tokens lists all tokens.
func (s *Store) Tokens(ctx context.Context) ([]access.Token, error) {
	var tokens []access.Token
	if err := s.runPlain(ctx, tokenCall(&tokens, s.sql.Tokens)); err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return tokens, nil
}

// tokenCall is a statement whose rows are tokens.
func tokenCall(into *[]access.Token, sql string, args ...any) call {
	return call{sql: sql, args: args, restart: func() { *into = nil }, each: func(row sqlstore.Scanner) error {
		token, err := sqlstore.ScanToken(row)
		*into = append(*into, token)
		return err
	}}
}

// DeleteToken removes a token.
func (s *Store) DeleteToken(ctx context.Context, id int64) error {
	gone := false
	err := s.run(ctx, call{sql: s.sql.DeleteToken, args: []any{id}, each: hits(&gone)})
	if err == nil && !gone {
		err = sqlstore.NoSuchToken(id)
	}
	if err != nil {
		return fmt.Errorf("delete token: %w", err)
	}
	return nil
}

// TouchToken notes that a token was used now.
func (s *Store) TouchToken(ctx context.Context, id int64) error {
	if err := s.run(ctx, call{sql: s.sql.TouchToken, args: []any{id, sqlstore.TouchEvery.Microseconds()}}); err != nil {
		return fmt.Errorf("touch token: %w", err)
	}
	return nil
}
