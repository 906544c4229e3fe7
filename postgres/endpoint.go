package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead"
)

// New opens the store on a pool of the program, as Open does on a URL. The store's calls use
// the pool's connections. It makes up to five more, with the settings of the pool: two for
// heartbeats, which a busy pool must not delay; one that listens for notifications; and two
// for what a call within a transaction of the program reads or reserves outside of it, because
// transactions that hold all connections of the pool would otherwise wait for each other.
// Close leaves the pool open: close it afterwards.
//
// The pool's settings must suit the store. Otherwise, New returns an error that wraps
// ErrInvalid and names the setting.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	return NewWith(ctx, pool, Options{})
}

// NewWith opens a store like New, with the given options.
func NewWith(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	if pool == nil {
		return nil, fmt.Errorf("open postgres store: the pool is nil: %w", fairlead.ErrInvalid)
	}
	return openAt(ctx, endpoint{config: pool.Config(), pool: pool}, options)
}

// endpoint describes how a store connects.
type endpoint struct {
	config     *pgxpool.Config
	pool       *pgxpool.Pool // pool of the program; nil = the store makes one
	modeChosen bool          // the URL says how statements are sent
}

var (
	errSimple = errors.New("the pool's ConnConfig.DefaultQueryExecMode is simple_protocol, which sends arguments as text without their types; use pgx.QueryExecModeExec")
	errKeeps  = errors.New("the pool leads to a connection pooler, in which prepared statements are lost; set ConnConfig.DefaultQueryExecMode to pgx.QueryExecModeExec, or use postgres.Open with the pooler's URL")
)

// suit adapts the settings to what is at the other end. It returns an error for a pool of
// the program, which it must not change.
func (p endpoint) suit(found session) error {
	mode := &p.config.ConnConfig.DefaultQueryExecMode
	switch {
	case p.pool != nil && *mode == pgx.QueryExecModeSimpleProtocol:
		return fmt.Errorf("%w: %w", errSimple, fairlead.ErrInvalid)
	case !found.pooled || p.modeChosen || *mode == pgx.QueryExecModeExec:
		return nil
	case p.pool != nil:
		return fmt.Errorf("%w: %w", errKeeps, fairlead.ErrInvalid)
	}
	*mode = pgx.QueryExecModeExec
	return nil
}
