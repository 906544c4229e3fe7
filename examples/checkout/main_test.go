package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/postgres"
)

// service is the running program.
type service struct {
	address string
	sent    chan Order
	stop    func() error
	store   *postgres.Store
}

func start(t *testing.T) *service {
	t.Helper()
	url := testdb.Postgres(t)
	store, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &service{address: "http://" + listener.Addr().String(), sent: make(chan Order, 10), store: store}
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, url, listener, func(_ context.Context, o Order) error {
			s.sent <- o
			return nil
		})
	}()
	s.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
	return s
}

// order places an order and returns the status of the response and the order in it.
func (s *service) order(t *testing.T, key, body string) (status int, order Order) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/orders", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_ = json.NewDecoder(response.Body).Decode(&order) // an error response has no order
	return response.StatusCode, order
}

func TestAnOrderAndItsReceiptAreStoredOnceHoweverOftenTheOrderIsSent(t *testing.T) {
	s := start(t)
	const kites = `{"product":"kite","quantity":2}`
	created, first := s.order(t, "a1", kites)
	if sent := <-s.sent; created != http.StatusCreated || sent != first || first.ID == 0 {
		t.Errorf("the order was answered with %d %+v, and its receipt is %+v", created, first, sent)
	}
	if again, same := s.order(t, "a1", kites); again != http.StatusOK || same != first {
		t.Errorf("the same again was answered with %d %+v, not with %+v", again, same, first)
	}
	if other, second := s.order(t, "a2", kites); other != http.StatusCreated || second == first {
		t.Errorf("another key was answered with %d %+v", other, second)
	}
	<-s.sent
	if err := s.stop(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	if jobs := s.count(t); jobs != 2 {
		t.Errorf("two orders have %d jobs", jobs)
	}
}

func TestAnOrderThatFailsLeavesNoJobBehind(t *testing.T) {
	s := start(t)
	if status, _ := s.order(t, "b1", `{"product":"kite","quantity":11}`); status != http.StatusUnprocessableEntity {
		t.Errorf("an order of more than there is was answered with %d", status)
	}
	if status, _ := s.order(t, "", `{"product":"kite","quantity":1}`); status != http.StatusBadRequest {
		t.Errorf("an order without a key was answered with %d", status)
	}
	if jobs := s.count(t); jobs != 0 {
		t.Errorf("%d jobs were stored of orders that were refused", jobs)
	}
	if status, _ := s.order(t, "b1", `{"product":"kite","quantity":10}`); status != http.StatusCreated {
		t.Errorf("the key of an order that was refused cannot be used: %d", status)
	}
	<-s.sent
	if err := s.stop(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
}

// count returns the number of jobs.
func (s *service) count(t *testing.T) (jobs int64) {
	t.Helper()
	tally, err := fairlead.NewClient(s.store).Tally(t.Context(), fairlead.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range tally {
		jobs += n
	}
	return jobs
}
