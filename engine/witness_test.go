package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// waited is what a job waited for, and how long for each. Moments are left out.
func (w *world) waited(job *fairlead.Job, moment time.Duration) (causes []string, spans []time.Duration) {
	w.t.Helper()
	history, err := w.store.History(w.t.Context(), job.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, s := range history.Stretches {
		if i > 0 && !s.From.Equal(history.Stretches[i-1].Until) {
			w.t.Errorf("between %v and %v nothing is said", history.Stretches[i-1].Until, s.From)
		}
		if span := s.Until.Sub(s.From); span > moment {
			codes := make([]string, len(s.Causes))
			for j, o := range s.Causes {
				codes[j] = string(o.Code)
			}
			causes, spans = append(causes, strings.Join(codes, "+")), append(spans, span)
		}
	}
	return causes, spans
}

func TestAJobThatRanAtLastSaysWhatItHadWaitedFor(t *testing.T) {
	const each, moment = time.Minute, 5 * time.Second // some looks, and beats that say which slots are free
	for name, nodes := range map[string]int{"one node": 1, "three nodes": 3} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				ctx, release := w.t.Context(), make(chan struct{})
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				for kind, work := range map[string]func(){"k": func() {}, "long": func() { <-release }} {
					w.handle(kind, fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
						work()
						return nil
					})
				}
				var stops []func() error
				for range nodes {
					stops = append(stops, w.start(engine.Options{Slots: 2}))
				}
				must(w.client.PauseKind(ctx, "k"))
				w.enqueue(&fairlead.Job{Kind: "long"})
				job := &fairlead.Job{Kind: "k"}
				w.enqueue(job)
				pass(each)

				must(w.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: 1}))
				must(w.client.ResumeKind(ctx, "k"))
				pass(each)

				must(w.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.001, Burst: 1}))
				w.wait(func() *fairlead.Job {
					other := &fairlead.Job{Kind: "k", Queue: "other"}
					w.enqueue(other) // it takes the one start that is saved up
					return other
				}())
				must(w.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue}))
				pass(each)

				for range 2*nodes - 1 {
					w.enqueue(&fairlead.Job{Kind: "long", Priority: fairlead.High})
				}
				must(w.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal}))
				pass(each)

				close(release)
				w.wait(job)
				for _, stop := range stops {
					must(stop())
				}
				causes, spans := w.waited(job, moment)
				if !slices.Equal(causes, []string{"paused", "at_cap", "over_rate", "no_slot"}) {
					t.Fatalf("it waited for %v, for %v", causes, spans)
				}
				for i, span := range spans {
					if span < each-moment || span > each+moment {
						t.Errorf("%s lasted %v", causes[i], span)
					}
				}
			})
		})
	}
}

func TestANodeThatIsNotToRecordWhatKeepsJobsWaitingDoesNot(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.run(engine.Options{HoldRetention: -1}, func() {
			w.enqueue(&fairlead.Job{Kind: "unheard of"})
			pass(time.Minute)
		})
		if state, err := w.store.HoldLook(w.t.Context()); err != nil || state.Version != 0 {
			t.Errorf("it looked: %+v, %v", state, err)
		}
	})
}
