package fairlead_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/everystore"
)

// ensuringStore is a store with an audit log.
type ensuringStore interface {
	driver.Store
	access.Store
	Close() error
}

// atOnce runs a function as many programs would that start together, and returns how often it
// reported that it created something.
func atOnce(t *testing.T, f func() (created bool, err error)) (creations int) {
	t.Helper()
	const programs = 8
	created := make([]bool, programs)
	errs := make([]error, programs)
	var all sync.WaitGroup
	for i := range programs {
		all.Go(func() { created[i], errs[i] = f() })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	for _, one := range created {
		if one {
			creations++
		}
	}
	return creations
}

func wantEntries(t *testing.T, store access.Store, action, subject string, n int) []access.Entry {
	t.Helper()
	entries, err := store.AuditLog(t.Context(), access.Filter{Action: action, Subject: subject, Actor: access.EnsureActor})
	if err != nil || len(entries) != n {
		t.Fatalf("the audit log has %d entries of %s of %s, want %d: %+v, %v", len(entries), action, subject, n, entries, err)
	}
	return entries
}

func shownChanges(changed []fairlead.Difference) (fields []string) {
	for _, d := range changed {
		fields = append(fields, d.String())
	}
	slices.Sort(fields)
	return fields
}

func TestATenantIsEnsured(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store ensuringStore) {
		defer store.Close()
		client, ctx := fairlead.NewClient(store), t.Context()
		declared := fairlead.Tenant{Name: "umbrella", MaxRunning: 5, Rate: 20, Labels: map[string]string{"plan": "gold"}}
		created := atOnce(t, func() (bool, error) {
			ensured, err := client.EnsureTenant(ctx, declared)
			return ensured.Created, err
		})
		if created != 1 {
			t.Errorf("%d programs have created the tenant, want 1", created)
		}
		wantEntries(t, store, "EnsureTenant", "tenant:umbrella", 1)
		first, err := client.Tenant(ctx, "umbrella")
		if err != nil || first.MaxRunning != 5 || first.Burst != 2 || first.Labels["plan"] != "gold" {
			t.Fatalf("it is %+v, %v", first, err)
		}

		// An operator changes what the program owns, and what it does not own.
		edited := first
		edited.MaxRunning, edited.MaxPending, edited.Weight = 1, 100, 7
		if _, err := client.PutTenant(ctx, edited); err != nil {
			t.Fatal(err)
		}
		if err := client.PauseTenant(ctx, "umbrella"); err != nil {
			t.Fatal(err)
		}
		again, err := client.EnsureTenant(ctx, declared)
		if err != nil || again.Created || !slices.Equal(shownChanges(again.Changed), []string{"max_running: 1 → 5"}) {
			t.Fatalf("the second time: %+v, %v", again, err)
		}
		now, err := client.Tenant(ctx, "umbrella")
		if err != nil || now.MaxRunning != 5 || now.MaxPending != 100 || now.Weight != 7 || !now.Paused || now.Version != again.Version {
			t.Errorf("it is %+v, %v, after %+v", now, err, again.Tenant)
		}
		if log := wantEntries(t, store, "EnsureTenant", "tenant:umbrella", 2)[0]; string(log.Before) != `{"max_running":"1"}` {
			t.Errorf("the audit log says %s", log.Before)
		}
		if third, err := client.EnsureTenant(ctx, declared); err != nil || third.Version != now.Version || len(third.Changed) > 0 {
			t.Errorf("the third time: %+v, %v", third, err)
		}
		declared.Rate = 200
		if faster, err := client.EnsureTenant(ctx, declared); err != nil || faster.Burst != 20 {
			t.Errorf("with another rate: %+v, %v", faster, err)
		}
		declared.Rate = -1
		if _, err := client.EnsureTenant(ctx, declared); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("with a wrong rate: %v", err)
		}
	})
}

func TestALimitIsEnsured(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store ensuringStore) {
		defer store.Close()
		client, ctx := fairlead.NewClient(store), t.Context()
		declared := fairlead.Limit{Scope: fairlead.LimitKind, Name: "mail", MaxRunning: 5, Rate: 20}
		created := atOnce(t, func() (bool, error) {
			ensured, err := client.EnsureLimit(ctx, declared)
			return ensured.Created, err
		})
		if created != 1 {
			t.Errorf("%d programs have set the limit, want 1", created)
		}
		wantEntries(t, store, "EnsureLimit", "limit:kind:mail", 1)
		edited := declared
		edited.Rate, edited.Burst, edited.PerKey = 3, 50, 4
		if err := client.SetLimit(ctx, edited); err != nil {
			t.Fatal(err)
		}
		again, err := client.EnsureLimit(ctx, declared)
		want := fairlead.Limit{Scope: fairlead.LimitKind, Name: "mail", MaxRunning: 5, Rate: 20, Burst: 50, PerKey: 4}
		if err != nil || again.Created || again.Limit != want || !slices.Equal(shownChanges(again.Changed), []string{"rate: 3 → 20"}) {
			t.Errorf("the second time: %+v, %v", again, err)
		}
		limits, err := client.Limits(ctx)
		if err != nil || len(limits) != 1 || limits[0].Limit != want {
			t.Errorf("the limits are %+v, %v", limits, err)
		}
		wantEntries(t, store, "EnsureLimit", "limit:kind:mail", 2)
		if nothing, err := client.EnsureLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "mail"}); err != nil || nothing.Limit != want {
			t.Errorf("a declaration that sets nothing made it %+v, %v", nothing, err)
		}
		if _, err := client.EnsureLimit(ctx, fairlead.Limit{Scope: fairlead.LimitTenant, Name: "a", MaxRunning: 1}); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("of a tenant: %v", err)
		}
	})
}

// overtaken is a store in which an operator changes something right before it is ensured.
type overtaken struct {
	ensuringStore
	operator func() // once
}

func (s *overtaken) overtake() {
	if operator := s.operator; operator != nil {
		s.operator = nil
		operator()
	}
}

func (s *overtaken) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	s.overtake()
	return s.ensuringStore.PutTenant(ctx, tenant)
}

func (s *overtaken) SetLimitSeen(ctx context.Context, limit, seen fairlead.Limit) error {
	s.overtake()
	return s.ensuringStore.SetLimitSeen(ctx, limit, seen)
}

func TestEnsureDoesNotUndoWhatAnOperatorChangesMeanwhile(t *testing.T) {
	everystore.Run(t, func(t *testing.T, inner ensuringStore) {
		defer inner.Close()
		operator, ctx := fairlead.NewClient(inner), t.Context()
		store := &overtaken{ensuringStore: inner}
		program := fairlead.NewClient(store)
		if _, err := operator.PutTenant(ctx, fairlead.Tenant{Name: "acme", MaxRunning: 1}); err != nil {
			t.Fatal(err)
		}
		store.operator = func() {
			if err := operator.PauseTenant(ctx, "acme"); err != nil {
				t.Error(err)
			}
		}
		if tenant, err := program.EnsureTenant(ctx, fairlead.Tenant{Name: "acme", MaxRunning: 5}); err != nil || !tenant.Paused || tenant.MaxRunning != 5 {
			t.Errorf("the tenant that was paused meanwhile is %+v, %v", tenant, err)
		}
		store.operator = func() {
			if err := operator.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}); err != nil {
				t.Error(err)
			}
		}
		limit, err := program.EnsureLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9})
		if want := (fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9, Order: fairlead.OrderFair}); err != nil || limit.Limit != want || limit.Created {
			t.Errorf("the limit that was set meanwhile is %+v, %v", limit, err)
		}
	})
}
