// Command prices changes many prices at once, and rolls the change back. The change is a
// batch: the first few products run ahead as a canary, the previous price of each product
// is stored, and a rollback can be reviewed before it starts.
//
//	go run ./examples/prices
//
// Products and jobs are stored in the file prices.db. Each run reduces all prices by a
// fifth, shows what a rollback would restore, and rolls back.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Shop stores products with their prices in cents.
type Shop struct{ store *sqlite.Store }

// reprice returns the operation that changes a product's price, and its undo. A task may
// run twice, because its node may die between the change and the record of it: setting a
// price twice does no harm.
func (s *Shop) reprice() batch.Operation {
	return batch.Operation{
		TargetType: "product", BatchType: "reprice",
		BuildParam: func(ctx context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			cents, err := s.price(ctx, task.Target.ID) // stored before Process is called
			return json.RawMessage(strconv.Itoa(cents)), err
		},
		Process: func(ctx context.Context, task batch.TaskArgs) error { return s.set(ctx, task.Target.ID, task.After) },
		Undo:    func(ctx context.Context, task batch.TaskArgs) error { return s.set(ctx, task.Target.ID, task.Before) },
	}
}

func (s *Shop) price(ctx context.Context, id string) (cents int, err error) {
	err = s.store.DB().QueryRowContext(ctx, "select cents from products where id = ?", id).Scan(&cents)
	return cents, err
}

func (s *Shop) set(ctx context.Context, id string, price json.RawMessage) error {
	var cents int
	if err := json.Unmarshal(price, &cents); err != nil || cents <= 0 {
		return fmt.Errorf("%s is not a price of %s", price, id)
	}
	_, err := s.store.DB().ExecContext(ctx, "update products set cents = ? where id = ?", cents, id)
	return err
}

// sale returns the batch that reduces the prices of products by a percentage. The batch
// pauses if a product of the canary fails, or if more than five products fail.
func (s *Shop) sale(ctx context.Context, percent, products int) (b batch.Batch, changes []batch.Change, err error) {
	for i := range products {
		id := strconv.Itoa(i)
		cents, err := s.price(ctx, id)
		if err != nil {
			return b, nil, err
		}
		changes = append(changes, batch.Change{
			Target: batch.Target{Type: "product", ID: id}, After: json.RawMessage(strconv.Itoa(cents * (100 - percent) / 100)),
		})
	}
	return batch.Batch{
		Name: "sale", Type: "reprice", Creator: "shop", MaxRunning: 20,
		Canary: batch.Canary{Tasks: 10, Ratio: 1}, StopAfter: batch.Threshold{Failures: 5},
	}, changes, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "prices.db", 500, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run runs a node until the sale and its rollback are complete.
func run(ctx context.Context, file string, products int, out io.Writer) (err error) {
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer store.Close()
	shop := &Shop{store}
	if _, err := store.DB().ExecContext(ctx, `create table if not exists products (id text primary key, cents int not null);
		with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
		insert or ignore into products select i, 1000 + i from n`, products); err != nil {
		return err
	}
	mux := fairlead.NewMux()
	batch.Handle(mux, shop.reprice())
	running, stopNode := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running, store, mux, engine.Options{}) }()
	defer func() {
		stopNode()
		err = errors.Join(err, <-ended)
	}()
	return shop.sellAndRollBack(ctx, batch.NewClient(store).Knowing(mux), products, out)
}

func (s *Shop) sellAndRollBack(ctx context.Context, batches *batch.Client, products int, out io.Writer) error {
	sale, changes, err := s.sale(ctx, 20, products)
	if err != nil {
		return err
	}
	if sale, err = batches.Start(ctx, sale, changes...); err != nil {
		return err
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		return err
	}
	fmt.Fprintf(out, "batch %d: %s, %d of %d prices changed\n", sale.ID, sale.State(), sale.Tally.Success, sale.Total)

	undone, total, err := batches.PlanRollBack(ctx, sale.ID, batch.RollBack{}, 3)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a rollback would put back %d prices:\n", total)
	for _, task := range undone {
		fmt.Fprintf(out, "  product %s: %s cents, now %s\n", task.Target.ID, task.Before, task.After)
	}
	if _, err = batches.RollBack(ctx, sale.ID, batch.RollBack{}); err != nil {
		return err
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		return err
	}
	fmt.Fprintf(out, "batch %d: %s, %d prices are as they were\n", sale.ID, sale.State(), sale.Tally.RollbackSuccess)
	return nil
}
