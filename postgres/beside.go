package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// besideConns is the number of connections beside a pool of the program.
const besideConns = 2

type besideKey struct{}

// beside marks a call that must not wait for a connection of the program's pool: it is made
// while a transaction of the program holds one, or it holds a lock that such a call waits
// for. Otherwise, transactions that hold all connections would wait for each other.
func beside(ctx context.Context) context.Context {
	return context.WithValue(ctx, besideKey{}, true)
}

// conns returns the connections for a call.
func (s *Store) conns(ctx context.Context) *pgxpool.Pool {
	if s.beside != nil && ctx.Value(besideKey{}) == true {
		return s.beside
	}
	return s.pool
}
