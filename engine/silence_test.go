package engine_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

func TestADatabaseThatIsAwayIsOneLineWhenItGoesAndOneWhenItIsBack(t *testing.T) {
	for name, damage := range map[string]func(*faulty.Store){
		"refuses": func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Calls()...) },
		"does not answer": func(s *faulty.Store) {
			s.Hang(faulty.Always, faulty.Calls()...)
			s.Fail(faulty.Always, faulty.Claim, faulty.Held) // these wait for each other with a lock, for which virtual time stands still
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				store := faulty.New(w.store)
				w.engineStore = store
				w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
				log := &lines{}
				node, stop := w.startEngine(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))})
				pass(time.Minute)
				if !node.Outage().IsZero() {
					t.Error("there is an outage before one has begun")
				}
				damage(store)
				pass(time.Minute)
				if since := time.Since(node.Outage()); since > time.Minute || since < 50*time.Second {
					t.Errorf("the outage is known for %v", since)
				}
				store.Mend()
				pass(time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				gone, back, lost := log.with(t, "database unavailable"), log.with(t, "database available again"), log.with(t, "lease lost")
				if len(gone) != 1 || len(back) != 1 || len(lost) != 1 {
					t.Fatalf("%d lines say that it went, %d that it is back, %d that the lease was lost", len(gone), len(back), len(lost))
				}
				if silence := time.Duration(lost[0]["silence"].(float64)); silence < 5*time.Second || silence > 10*time.Second || lost[0]["of"] != "the database did not answer" || lost[0]["node"] == nil {
					t.Errorf("the lease was lost: %v", lost[0])
				}
				for _, line := range log.with(t, "") {
					if line["level"] != "INFO" && line["error"] != nil && line["msg"] != gone[0]["msg"] {
						t.Errorf("this is said too: %v", line)
					}
				}
			})
		})
	}
}

func TestAnErrorThatIsNoOutageIsLogged(t *testing.T) {
	inBubble(t, func(w *world) {
		store := faulty.New(w.store)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		log := &lines{}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			pass(time.Minute)
			store.Fail(1, faulty.Promote) // as after a deadlock
			pass(time.Minute)
		})
		if found := log.with(t, "loop failed"); len(found) != 1 || found[0]["loop"] != "promote" {
			t.Errorf("got %v", found)
		}
		if found := log.with(t, "database"); len(found) > 0 {
			t.Errorf("got %v", found)
		}
	})
}

func TestANodeThatIsDeclaredDeadIsNamed(t *testing.T) {
	for name, age := range map[string]time.Duration{"by one that lives for long": time.Minute, "by one that has just joined": 0} {
		t.Run(name, func(t *testing.T) { declaredDead(t, age) })
	}
}

func declaredDead(t *testing.T, age time.Duration) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		log := &lines{}
		if age == 0 {
			w.deadNode(10 * time.Second)
			pass(11 * time.Second)
		}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			pass(age)
			if age > 0 {
				w.deadNode(10 * time.Second)
			}
			left, err := w.store.Join(w.t.Context(), fairlead.Node{Name: "leaver"}, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			pass(5 * time.Second)
			if err := w.store.Leave(w.t.Context(), left); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
		})
		found := log.with(t, "node declared dead")
		if len(found) != 1 || found[0]["name"] != "doomed" || found[0]["dead_node"] == nil {
			t.Fatalf("got %v", found)
		}
		if silence := time.Duration(found[0]["silence"].(float64)); silence < 10*time.Second || silence > 30*time.Second {
			t.Errorf("it was silent for %v", silence)
		}
	})
}
