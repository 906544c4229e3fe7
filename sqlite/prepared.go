package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
)

// prepared runs the statements of one transaction of the writer; those that
// were prepared are not parsed again.
type prepared struct {
	tx   *sql.Tx
	all  map[string]*sql.Stmt // by text
	used map[string]*sql.Stmt // the same, bound to the transaction
}

// texts lists the statements.
func (s *statements) texts() []string {
	var texts []string
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		texts = append(texts, fields.Field(i).String())
	}
	return texts
}

// prepareAll prepares statements on a handle.
func prepareAll(ctx context.Context, db *sql.DB, texts []string) (map[string]*sql.Stmt, error) {
	all := map[string]*sql.Stmt{}
	for _, query := range texts {
		stmt, err := db.PrepareContext(ctx, query) //nolint:sqlclosecheck // it lives as long as its handle
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", query, err)
		}
		all[query] = stmt
	}
	return all, nil
}

func newPrepared(tx *sql.Tx, all map[string]*sql.Stmt) *prepared {
	return &prepared{tx: tx, all: all, used: map[string]*sql.Stmt{}}
}

func (p *prepared) stmt(ctx context.Context, query string) *sql.Stmt {
	stmt, ok := p.used[query]
	if !ok && p.all[query] != nil {
		stmt = p.tx.StmtContext(ctx, p.all[query])
		p.used[query] = stmt
	}
	return stmt
}

// ExecContext is part of runner.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := p.stmt(ctx, query); stmt != nil { //nolint:sqlclosecheck // it ends with its transaction
		return stmt.ExecContext(ctx, args...)
	}
	return p.tx.ExecContext(ctx, query, args...)
}

// QueryContext is part of runner.
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := p.stmt(ctx, query); stmt != nil { //nolint:sqlclosecheck // it ends with its transaction
		return stmt.QueryContext(ctx, args...)
	}
	return p.tx.QueryContext(ctx, query, args...)
}

// preparedReads runs statements that read, each on any connection of a handle.
type preparedReads struct {
	*sql.DB
	all map[string]*sql.Stmt
}

// QueryContext is part of runner.
func (p *preparedReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := p.all[query]; stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return p.DB.QueryContext(ctx, query, args...)
}
