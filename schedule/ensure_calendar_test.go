package schedule_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/schedule"
)

// ensuringStore is a store with an audit log.
type ensuringStore interface {
	schedule.Store
	access.Store
	Close() error
}

// overtaken is a store in which an operator changes a calendar right before it is ensured.
type overtaken struct {
	ensuringStore
	operator func() // once
}

func (s *overtaken) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	if operator := s.operator; operator != nil {
		s.operator = nil
		operator()
	}
	return s.ensuringStore.PutCalendar(ctx, calendar)
}

func TestACalendarIsEnsured(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store ensuringStore) {
		defer store.Close()
		client, ctx := schedule.NewClient(store), t.Context()
		declared := schedule.Calendar{Name: "quiet", Dates: []string{"12-25", "12-26"}}
		var created atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				ensured, err := client.EnsureCalendar(ctx, declared)
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
			t.Errorf("%d programs have created the calendar, want 1", created.Load())
		}
		found, err := client.Calendars(ctx)
		if err != nil || len(found) != 1 {
			t.Fatalf("the calendars are %+v, %v", found, err)
		}
		edited := found[0]
		edited.Dates, edited.Description = []string{"12-25", "01-01"}, "by hand"
		if edited, err = client.PutCalendar(ctx, edited); err != nil {
			t.Fatal(err)
		}
		hasty := &overtaken{ensuringStore: store, operator: func() {
			edited.Weekdays = []time.Weekday{time.Monday}
			if _, err := client.PutCalendar(ctx, edited); err != nil {
				t.Error(err)
			}
		}}
		again, err := schedule.NewClient(hasty).EnsureCalendar(ctx, declared)
		if err != nil || again.Created || len(again.Changed) != 1 || again.Changed[0].Field != "dates" {
			t.Fatalf("the second time: %+v, %v", again, err)
		}
		if !slices.Equal(again.Dates, declared.Dates) || again.Description != "by hand" || len(again.Weekdays) != 1 {
			t.Errorf("it is %+v", again.Calendar)
		}
		if third, err := client.EnsureCalendar(ctx, declared); err != nil || third.Version != again.Version || len(third.Changed) > 0 {
			t.Errorf("the third time: %+v, %v", third, err)
		}
		log, err := store.AuditLog(ctx, access.Filter{Action: "EnsureCalendar", Subject: "calendar:quiet", Actor: access.EnsureActor})
		if err != nil || len(log) != 2 {
			t.Errorf("the audit log has %+v, %v", log, err)
		}
		declared.Dates = []string{"never"}
		if _, err := client.EnsureCalendar(ctx, declared); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("with a wrong date: %v", err)
		}
	})
}
