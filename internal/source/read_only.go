package source

import (
	"context"
	"database/sql"
	"errors"
)

// transactor begins transactions, like *sql.DB.
type transactor interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// readOnly calls use with a Querier that runs in a read-only transaction, if the querier
// supports transactions. A session setting instead would remain in connections that other
// callers share.
func readOnly(ctx context.Context, querier Querier, use func(Querier) error) error {
	begin, ok := querier.(transactor)
	if !ok {
		return use(querier)
	}
	tx, err := begin.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	if err := use(tx); err != nil {
		return errors.Join(err, ended(tx.Rollback()))
	}
	return ended(tx.Commit())
}

// ended returns err unless it only says that the transaction has already ended.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
