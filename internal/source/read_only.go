package source

import (
	"context"
	"database/sql"
	"errors"
)

// transactor is what can begin transactions, as *sql.DB can.
type transactor interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// readOnly calls use with a Querier that can change nothing, if the database offers
// that: in a transaction that only reads. A setting of the session would
// stay behind in connections that others use as well.
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

// ended is an error other than that the transaction is over already.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
