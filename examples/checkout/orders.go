package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/fairlead-io/fairlead"
)

// Order is a customer's order.
type Order struct {
	ID       int64  `json:"id"`
	Product  string `json:"product"`
	Quantity int    `json:"quantity"`
}

// Receipt is the kind of job that sends an order's receipt. It is declared once and shared
// by the code that enqueues these jobs and the code that handles them.
var Receipt = fairlead.NewKind[Order]("checkout.receipt")

var errSoldOut = errors.New("not enough stock")

// post handles a request to place an order. If the key was used before, it returns the
// order of the earlier request.
func (s *Shop) post(w http.ResponseWriter, r *http.Request) {
	var order Order
	key, status := r.Header.Get("Idempotency-Key"), http.StatusCreated
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&order)
	if err != nil || key == "" || order.Quantity < 1 {
		http.Error(w, "an order needs the header Idempotency-Key, a product and a quantity", http.StatusBadRequest)
		return
	}
	err = s.place(r.Context(), key, &order)
	if errors.Is(err, fairlead.ErrConflict) {
		status = http.StatusOK
		order, err = s.placed(r.Context(), key)
	}
	switch {
	case errors.Is(err, errSoldOut):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(order) // a client that has disconnected repeats the request with its key
	}
}

// place stores an order, takes it from the stock and enqueues its receipt, all or nothing.
// It returns fairlead.ErrConflict if the key was used before.
func (s *Shop) place(ctx context.Context, key string, o *Order) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // does nothing after the commit
	if err := tx.QueryRow(ctx, "insert into orders (product, quantity) values ($1, $2) returning id", o.Product, o.Quantity).Scan(&o.ID); err != nil {
		return err
	}
	job, jobs := Receipt.Job(*o), s.jobs.Within(s.store.Tx(tx))
	job.Key, job.KeyScope = key, fairlead.KeyForever
	if err := jobs.Enqueue(ctx, job); err != nil {
		return err
	}
	taken, err := tx.Exec(ctx, "update stock set available = available - $2 where product = $1 and available >= $2", o.Product, o.Quantity)
	if err == nil && taken.RowsAffected() == 0 {
		err = errSoldOut
	}
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// placed returns the order for which a key was used. The order is stored in its job.
func (s *Shop) placed(ctx context.Context, key string) (Order, error) {
	found, err := s.jobs.Find(ctx, fairlead.Filter{Kinds: []string{Receipt.Name()}, Key: key, Limit: 1})
	if err != nil {
		return Order{}, err
	}
	if len(found.Jobs) == 0 {
		return Order{}, fairlead.ErrNotFound
	}
	return Receipt.Args(found.Jobs[0])
}
