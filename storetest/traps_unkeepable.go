package storetest

import (
	"errors"
	"reflect"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// unkeepable returns strings that some databases cannot store.
func unkeepable() map[string]string {
	return map[string]string{"a NUL": "a\x00b", "what is not UTF-8": "a\xffb"}
}

// saying is a client call with its input.
type saying struct {
	name  string
	given any // a pointer
	call  func(f *fixture, given any) error
}

// sayings returns calls that succeed or find nothing, one for each input of a client.
func sayings() []saying {
	return []saying{
		say("Enqueue", fairlead.Job{Kind: "a"}, func(f *fixture, job *fairlead.Job) error { return f.client().Enqueue(f.ctx(), job) }),
		say("EnqueueOnce", fairlead.Once{Caller: "me", Key: "k"}, func(f *fixture, once *fairlead.Once) error {
			return only(f.client().EnqueueOnce(f.ctx(), *once, plain()))
		}),
		say("PutTenant", fairlead.Tenant{Name: "acme"}, func(f *fixture, tenant *fairlead.Tenant) error {
			return only(f.client().PutTenant(f.ctx(), *tenant))
		}),
		say("PutSchedule", schedule.Schedule{Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "a"}, Alert: &schedule.Alert{URL: "http://x"}}, func(f *fixture, s *schedule.Schedule) error {
			return only(schedule.NewClient(f.store).Put(f.ctx(), *s))
		}),
		say("PutCalendar", schedule.Calendar{Name: "c"}, func(f *fixture, calendar *schedule.Calendar) error {
			return only(schedule.NewClient(f.store).PutCalendar(f.ctx(), *calendar))
		}),
		say("CreateBatch", batch.Batch{Name: "b", Type: "paint"}, func(f *fixture, b *batch.Batch) error {
			return only(batch.NewClient(f.store).Start(f.ctx(), *b, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}))
		}),
		say("CreateBatch of a change", batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}, func(f *fixture, change *batch.Change) error {
			return only(batch.NewClient(f.store).Start(f.ctx(), batch.Batch{Name: "b", Type: "paint"}, *change))
		}),
		say("PutSweep", sweep.Sweep{Name: "w", Kind: "scrub", To: 9}, func(f *fixture, s *sweep.Sweep) error {
			return only(sweep.NewClient(f.store).Put(f.ctx(), *s))
		}),
		say("PutSweep of a table", sweep.Table{Database: "d", Name: "t", Key: "k"}, func(f *fixture, table *sweep.Table) error {
			return only(sweep.NewClient(f.store).Put(f.ctx(), sweep.Sweep{Name: "w", Kind: "scrub", Source: sweep.ItemSource{Table: table}}))
		}),
		say("SetLimit", fairlead.Limit{Scope: fairlead.LimitKind, Name: "a", MaxRunning: 1}, func(f *fixture, limit *fairlead.Limit) error {
			return f.client().SetLimit(f.ctx(), *limit)
		}),
		say("AddToken", access.Token{Name: "t", Role: access.RoleViewer, Tenants: []string{"acme"}}, func(f *fixture, token *access.Token) error {
			if err := access.Normalize(token); err != nil {
				return err
			}
			return only(f.store.AddToken(f.ctx(), *token))
		}),
		say("Audit", access.Entry{Actor: "me", Action: "Do"}, func(f *fixture, entry *access.Entry) error {
			return f.store.Audit(f.ctx(), []access.Entry{*entry})
		}),
		say("Join", fairlead.Node{Name: "n", Kinds: []string{"a"}, Queues: []string{"q"}}, func(f *fixture, node *fairlead.Node) error {
			return only(f.store.Join(f.ctx(), *node, lease))
		}),
		say("LogSweep", sweep.Log{Text: "x"}, func(f *fixture, line *sweep.Log) error {
			client := sweep.NewClient(f.store)
			logged, err := client.Put(f.ctx(), sweep.Sweep{Name: "logged", Kind: "scrub", To: 9})
			f.ok(err)
			defer func() { f.ok(client.Delete(f.ctx(), logged.ID)) }()
			return client.Log(f.ctx(), logged.ID, *line)
		}),
		sayText("Pause", func(f *fixture, name string) error {
			return errors.Join(f.client().PauseQueue(f.ctx(), name), f.client().PauseKind(f.ctx(), name), f.client().PauseTenant(f.ctx(), name))
		}),
		sayText("Resume", func(f *fixture, name string) error {
			return errors.Join(f.client().ResumeQueue(f.ctx(), name), f.client().ResumeKind(f.ctx(), name), f.client().ResumeTenant(f.ctx(), name))
		}),
		sayText("Cancel", func(f *fixture, reason string) error {
			return operations(f.store).Cancel(f.ctx(), f.enqueue(plain()).ID, reason)
		}),
		sayText("PauseBatch", func(f *fixture, reason string) error {
			client := batch.NewClient(f.store)
			b, err := client.Start(f.ctx(), batch.Batch{Name: "b", Type: "paint"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
			f.ok(err)
			return only(client.Pause(f.ctx(), b.ID, reason))
		}),
		sayText("Settle", func(f *fixture, text string) error {
			job := f.running()
			return only(f.store.Settle(f.ctx(), []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail, Error: text, FreeKey: true}}))
		}),
		say("Find", fairlead.Filter{Kinds: []string{"a"}, Queues: []string{"q"}, Tenants: []string{"t"}}, func(f *fixture, filter *fairlead.Filter) error {
			return errors.Join(only(f.store.Find(f.ctx(), *filter)), only(f.store.Tally(f.ctx(), *filter)))
		}),
		say("Tenants", fairlead.TenantFilter{Names: []string{"n"}}, func(f *fixture, filter *fairlead.TenantFilter) error {
			return only(f.client().Tenants(f.ctx(), *filter))
		}),
		say("Schedules", schedule.Filter{Names: []string{"n"}, Tenants: []string{"t"}}, func(f *fixture, filter *schedule.Filter) error {
			return only(schedule.NewClient(f.store).List(f.ctx(), *filter))
		}),
		say("Batches", batch.Filter{Names: []string{"n"}, Types: []string{"t"}, Queues: []string{"q"}, Tenants: []string{"t"}}, func(f *fixture, filter *batch.Filter) error {
			return only(batch.NewClient(f.store).List(f.ctx(), *filter))
		}),
		say("Sweeps", sweep.Filter{Names: []string{"n"}, Tenants: []string{"t"}}, func(f *fixture, filter *sweep.Filter) error {
			return only(sweep.NewClient(f.store).List(f.ctx(), *filter))
		}),
		say("AuditLog", access.Filter{}, func(f *fixture, filter *access.Filter) error {
			return only(f.store.AuditLog(f.ctx(), *filter))
		}),
		sayText("DeleteTenant", func(f *fixture, name string) error { return f.client().DeleteTenant(f.ctx(), name) }),
		sayText("DeleteCalendar", func(f *fixture, name string) error { return schedule.NewClient(f.store).DeleteCalendar(f.ctx(), name) }),
	}
}

// say returns a call with a struct as input.
func say[T any](name string, given T, call func(f *fixture, given *T) error) saying {
	return saying{name, &given, func(f *fixture, given any) error { return call(f, given.(*T)) }}
}

// sayText returns a call with a string as input.
func sayText(name string, call func(f *fixture, text string) error) saying {
	type text struct{ Text string }
	return say(name, text{"x"}, func(f *fixture, given *text) error { return call(f, given.Text) })
}

func (f *fixture) client() *fairlead.Client { return fairlead.NewClient(f.store) }

// testUnkeepable covers strings that some databases cannot store: calls reject them by name
// or clean them, and lookups with them find nothing or are rejected. No call fails in
// another way.
func testUnkeepable(c *chapter) {
	for i, r := range sayings() {
		c.test(r.name+" takes no text that a database cannot keep", func(f *fixture) {
			_, err := f.store.Join(f.ctx(), fairlead.Node{Name: "painter", Kinds: []string{batch.TaskKind("wall", "paint")}}, lease)
			f.ok(err)
			if err := r.call(f, r.given); !errors.Is(err, fairlead.ErrNotFound) {
				f.ok(err)
			}
			for what, text := range unkeepable() {
				for field := range textFields(reflect.ValueOf(r.given).Elem()) {
					fresh := sayings()[i]
					setText(reflect.ValueOf(fresh.given).Elem(), field, text)
					err := fresh.call(f, fresh.given)
					if err != nil && !errors.Is(err, fairlead.ErrInvalid) && !errors.Is(err, fairlead.ErrNotFound) && !errors.Is(err, fairlead.ErrConflict) {
						f.Errorf("with %s in text %d of %+v: %v", what, field, fresh.given, err)
					}
				}
			}
		})
	}
}

// textFields counts the strings in a value.
func textFields(value reflect.Value) int {
	count := 0
	walkTexts(value, func(reflect.Value) { count++ })
	return count
}

// setText sets the string with a number.
func setText(value reflect.Value, number int, text string) {
	count := 0
	walkTexts(value, func(field reflect.Value) {
		if count == number {
			field.SetString(text)
		}
		count++
	})
}

var timeType = reflect.TypeFor[time.Time]()

// walkTexts visits all settable strings in a value, including those in nonempty lists.
func walkTexts(value reflect.Value, visit func(reflect.Value)) {
	switch value.Kind() {
	case reflect.String:
		visit(value)
	case reflect.Pointer:
		if !value.IsNil() {
			walkTexts(value.Elem(), visit)
		}
	case reflect.Slice:
		for i := range value.Len() {
			walkTexts(value.Index(i), visit)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type() != timeType && value.Type().Field(i).IsExported() {
				walkTexts(value.Field(i), visit)
			}
		}
	}
}
