package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// errDuplicate is the server's answer to a key that is taken.
const errDuplicate = 1062

// AddToken stores a token.
func (s *Store) AddToken(ctx context.Context, token access.Token) (stored access.Token, err error) {
	tenants, err := sqlstore.EncodeNames(token.Tenants)
	if err != nil {
		return access.Token{}, fmt.Errorf("add token: %w", err)
	}
	err = s.inTx(ctx, "add token", func(ctx context.Context, t *txn) error {
		_, err := t.exec(ctx, t.sql.AddToken, token.Name, string(token.Role), tenants, token.Hash[:], sqlstore.Micros(token.ExpiresAt))
		var answer *mysql.MySQLError
		if errors.As(err, &answer) && answer.Number == errDuplicate {
			return sqlstore.TokenTaken(token.Name)
		}
		if err != nil {
			return err
		}
		found, err := readTokens(ctx, t.tx, t.sql.FindToken, token.Hash[:])
		if err == nil {
			err = checkHits(1, int64(len(found)), nil)
		}
		if err == nil {
			stored = found[0]
		}
		return err
	})
	if err != nil {
		return access.Token{}, err
	}
	return stored, nil
}

// FindToken finds a token by its hash.
func (s *Store) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	found, err := readTokens(ctx, s.db, s.sql.FindToken, hash[:])
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
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	tokens, err := readTokens(ctx, s.db, s.sql.Tokens)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return tokens, nil
}

func readTokens(ctx context.Context, q querier, statement string, args ...any) (tokens []access.Token, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		token, err := sqlstore.ScanToken(row)
		tokens = append(tokens, token)
		return err
	}, statement, args...)
	return tokens, err
}

// DeleteToken removes a token.
func (s *Store) DeleteToken(ctx context.Context, id int64) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	result, err := s.execAlone(ctx, s.db, s.sql.DeleteToken, id)
	if err != nil {
		return fmt.Errorf("delete token: %w", err)
	}
	gone, err := result.RowsAffected()
	if err == nil && gone == 0 {
		err = sqlstore.NoSuchToken(id)
	}
	if err != nil {
		return fmt.Errorf("delete token: %w", err)
	}
	return nil
}

// TouchToken notes that a token was used now.
func (s *Store) TouchToken(ctx context.Context, id int64) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if _, err := s.execAlone(ctx, s.db, s.sql.TouchToken, id, sqlstore.TouchEvery.Microseconds()); err != nil {
		return fmt.Errorf("touch token: %w", err)
	}
	return nil
}
