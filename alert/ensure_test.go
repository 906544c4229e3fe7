package alert_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/internal/everystore"
)

// ensuringStore is a store with an audit log.
type ensuringStore interface {
	alert.Store
	access.Store
	Close() error
}

func declaredRule() alert.Rule {
	return alert.Rule{Name: "mail", Scope: "kind:mail", URL: "https://example.org/alerts", Headers: map[string]string{"Authorization": "Bearer s3cret"}}
}

func TestARuleIsEnsured(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store ensuringStore) {
		defer store.Close()
		client, ctx := alert.NewClient(store), t.Context()
		var created atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				ensured, err := client.Ensure(ctx, declaredRule())
				if err != nil {
					t.Error(err)
				}
				if ensured.Created {
					created.Add(1)
				}
			})
		}
		all.Wait()
		if created.Load() != 1 {
			t.Errorf("%d programs have created the rule, want 1", created.Load())
		}
		edited, err := client.Get(ctx, "mail")
		if err != nil {
			t.Fatal(err)
		}
		edited.Quiet, edited.On, edited.Backlog = time.Hour, []alert.Event{alert.Failed, alert.Backlog}, time.Minute
		edited.Headers = map[string]string{"Authorization": "Bearer 0ther"}
		if edited, err = client.Set(ctx, edited); err != nil {
			t.Fatal(err)
		}
		again, err := client.Ensure(ctx, declaredRule())
		if err != nil || again.Created || len(again.Changed) != 1 || again.Changed[0].Field != "headers" {
			t.Fatalf("the second time: %+v, %v", again, err)
		}
		if again.Quiet != time.Hour || again.Backlog != time.Minute || len(again.On) != 2 || again.Headers["Authorization"] != "Bearer s3cret" || !again.CreatedAt.Equal(edited.CreatedAt) {
			t.Errorf("it is %+v", again.Rule)
		}
		if third, err := client.Ensure(ctx, declaredRule()); err != nil || len(third.Changed) > 0 || !third.UpdatedAt.Equal(again.UpdatedAt) {
			t.Errorf("the third time: %+v, %v", third, err)
		}
		failures := declaredRule()
		failures.On = []alert.Event{alert.Failed}
		if fewer, err := client.Ensure(ctx, failures); err != nil || fewer.Backlog != 0 || len(fewer.On) != 1 {
			t.Errorf("with other events: %+v, %v", fewer, err)
		}
		elsewhere := declaredRule()
		elsewhere.Scope = "queue:mail"
		if _, err := client.Ensure(ctx, elsewhere); !errors.Is(err, fairlead.ErrConflict) {
			t.Errorf("with another scope: %v", err)
		}
		log, err := store.AuditLog(ctx, access.Filter{Action: "EnsureAlert", Subject: "alert:mail"})
		if err != nil || len(log) != 3 {
			t.Fatalf("the audit log has %+v, %v", log, err)
		}
		for _, entry := range log {
			if text := string(entry.Before) + string(entry.After); strings.Contains(text, "s3cret") || strings.Contains(text, "0ther") {
				t.Errorf("the audit log shows what a header has: %s", text)
			}
		}
	})
}

// overtaken is a store in which an operator changes a rule right before it is ensured.
type overtaken struct {
	ensuringStore
	operator func() // once
}

func (s *overtaken) SetAlertSeen(ctx context.Context, rule, seen alert.Rule) (alert.Rule, error) {
	if operator := s.operator; operator != nil {
		s.operator = nil
		operator()
	}
	return s.ensuringStore.SetAlertSeen(ctx, rule, seen)
}

func TestEnsureDoesNotUndoWhatAnOperatorChangesMeanwhile(t *testing.T) {
	everystore.Run(t, func(t *testing.T, inner ensuringStore) {
		defer inner.Close()
		operator, ctx := alert.NewClient(inner), t.Context()
		store := &overtaken{ensuringStore: inner, operator: func() {
			rule := declaredRule()
			rule.URL, rule.Quiet = "https://example.org/other", time.Hour
			if _, err := operator.Set(ctx, rule); err != nil {
				t.Error(err)
			}
		}}
		ensured, err := alert.NewClient(store).Ensure(ctx, declaredRule())
		if err != nil || ensured.Created || ensured.Quiet != time.Hour || ensured.URL != declaredRule().URL {
			t.Errorf("it is %+v, %v", ensured, err)
		}
	})
}
