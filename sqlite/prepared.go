package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// mostPrepared bounds how many statements a handle keeps prepared. The statements in
// sql/*.sql are fewer; the others are queries with filters, of which there are many
// kinds.
const mostPrepared = 500

// prepared runs the statements of one transaction of the writer. It does not parse
// prepared ones again.
type prepared struct {
	tx   *sql.Tx
	all  *stmts
	used map[string]*sql.Stmt // by text, bound to the transaction
}

// stmts holds the statements that the writer has used.
type stmts struct {
	prepared map[string]*sql.Stmt // by text
	// missing are prepared after the transaction, which uses the only connection, has
	// ended.
	missing map[string]struct{}
}

func newStmts() *stmts {
	return &stmts{prepared: map[string]*sql.Stmt{}, missing: map[string]struct{}{}}
}

// prepareMissing prepares statements for the next transactions. A statement that cannot
// be prepared is parsed each time.
func (s *stmts) prepareMissing(ctx context.Context, db *sql.DB) {
	for query := range s.missing {
		if len(s.prepared) >= mostPrepared {
			break
		}
		if stmt, err := db.PrepareContext(ctx, query); err == nil { //nolint:sqlclosecheck // it lives as long as its handle
			s.prepared[query] = stmt
		}
	}
	clear(s.missing)
}

func newPrepared(tx *sql.Tx, all *stmts) *prepared {
	return &prepared{tx: tx, all: all, used: map[string]*sql.Stmt{}}
}

func (p *prepared) stmt(ctx context.Context, query string) *sql.Stmt {
	stmt, ok := p.used[query]
	if ok {
		return stmt
	}
	plain := p.all.prepared[query]
	if plain == nil {
		p.all.missing[query] = struct{}{}
		return nil
	}
	stmt = p.tx.StmtContext(ctx, plain)
	p.used[query] = stmt
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

// preparedReads runs statements that read, each on any connection of a handle, and
// keeps them prepared.
type preparedReads struct {
	*sql.DB
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// QueryContext is part of runner.
func (p *preparedReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := p.stmt(ctx, query) //nolint:sqlclosecheck // it lives as long as its handle
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.DB.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// stmt returns a prepared statement, or nil if there are enough of them. It prepares
// without holding the lock: preparing takes a connection, and the goroutine that has
// the last one may be waiting for the lock.
func (p *preparedReads) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, found := p.find(query); found { //nolint:sqlclosecheck // it lives as long as its handle
		return stmt, nil
	}
	stmt, err := p.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.all[query]; first != nil { // another goroutine was faster
		_ = stmt.Close() //nolint:sqlclosecheck // only this one is not kept
		return first, nil
	}
	p.all[query] = stmt
	return stmt, nil
}

// find returns the statement if it is prepared, and nil if no more are kept.
func (p *preparedReads) find(query string) (stmt *sql.Stmt, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stmt = p.all[query]
	return stmt, stmt != nil || len(p.all) >= mostPrepared
}
