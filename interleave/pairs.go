package interleave

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Pair is two actors that meet at a subject.
type Pair struct {
	Subject *Subject
	Actors  [2]*Actor
}

func (p Pair) String() string {
	return p.Subject.Name + ": " + p.Actors[0].Name + " × " + p.Actors[1].Name
}

// Actors returns all actors.
func Actors() []Actor {
	return slices.Concat(jobActors(), runActors(), nodeActors(), takeoverActors(), callerActors(), batchActors(), scheduleActors(), sweepActors())
}

// Subjects returns all subjects.
func Subjects() []Subject {
	return slices.Concat(jobSubjects(), batchSubjects(), scheduleSubjects(), sweepSubjects())
}

// Pairs returns all pairs of actors that meet at a subject, each actor also with itself.
func Pairs() (pairs []Pair) {
	actors, subjects := Actors(), Subjects()
	for s := range subjects {
		for a := range actors {
			for b := a; b < len(actors); b++ {
				if subjects[s].brings(&actors[a], &actors[b]) {
					pairs = append(pairs, Pair{&subjects[s], [2]*Actor{&actors[a], &actors[b]}})
				}
			}
		}
	}
	return pairs
}

// Named returns the pair with a name, which may name the actors in either order.
func Named(name string) (Pair, error) {
	for _, pair := range Pairs() {
		swapped := Pair{pair.Subject, [2]*Actor{pair.Actors[1], pair.Actors[0]}}
		if name == pair.String() || name == swapped.String() {
			return pair, nil
		}
	}
	return Pair{}, fmt.Errorf("there is no pair %q", name)
}

// An Outcome is what the orders of a pair led to.
type Outcome struct {
	Orders   int
	Blocked  int            // orders in which an actor waited for a lock of the other
	Grouped  int            // orders in which both operations shared a transaction
	Excepted map[string]int // orders by the name of the exception that explains them
	Findings []Finding
}

// A Finding is an order whose result differs from that of both serial orders.
type Finding struct {
	Pair   Pair
	Order  Order
	What   string
	Script []string
}

func (f Finding) String() string {
	return fmt.Sprintf("%v, order %s: %s\n%s", f.Pair, f.Order, f.What, strings.Join(f.Script, "\n"))
}

// Explore plays a pair in every order with at most the given number of switches, and compares
// each result with those of the serial orders.
func (s *Stage) Explore(ctx context.Context, pair Pair, most int) (Outcome, error) {
	var o Outcome
	var want [2]*take
	steps, inert := [2]int{}, [2][]bool{}
	for i, order := range serial() {
		t, err := s.playSerially(ctx, pair, order)
		if err != nil {
			return o, err
		}
		want[i] = t
		o.add(t)
		inert[i] = t.inert[i] // of the actor that acts first
		for a := range 2 {
			steps[a] = max(steps[a], t.steps[a])
		}
		if what := t.broken(); what != "" {
			o.Findings = append(o.Findings, Finding{pair, order, what, t.script})
		}
	}
	if s.FirstOnly && len(o.Findings) > 0 {
		return o, nil
	}
	accepted, rest := want[:], []*take(nil)
	var orders []Order
	for order := range switches(steps, inert, most) {
		t, err := s.Play(ctx, pair.Subject, pair.Actors, order)
		if err != nil {
			return o, err
		}
		o.add(t)
		if what := t.broken(); s.FirstOnly && what != "" && excuse(pair, t, want[:]) == nil {
			o.Findings = append(o.Findings, Finding{pair, order, what, t.script})
			return o, nil
		}
		if pair.inSteps() && t.between {
			// Other transactions may come between those of one operation: what that leads to
			// must keep the rules, and is compared with nothing.
			accepted = append(accepted, t)
			if what := t.broken(); what != "" {
				o.Findings = append(o.Findings, Finding{pair, order, what, t.script})
			}
			continue
		}
		rest, orders = append(rest, t), append(orders, order)
	}
	takes, groupedOrders, err := s.exploreGroups(ctx, pair, want)
	if err != nil {
		return o, err
	}
	for i, t := range takes {
		o.add(t)
		o.Grouped++
		if t.between {
			if what := t.broken(); what != "" {
				o.Findings = append(o.Findings, Finding{pair, groupedOrders[i], what, t.script})
			}
			continue
		}
		rest, orders = append(rest, t), append(orders, groupedOrders[i])
	}
	for i, t := range rest {
		if what := judge(t, accepted); what != "" {
			if e := excuse(pair, t, accepted); e != nil {
				o.except(e)
				continue
			}
			o.Findings = append(o.Findings, Finding{pair, orders[i], what, t.script})
		}
	}
	if pair.Actors[0] == pair.Actors[1] {
		return o, s.exploreDeaths(ctx, pair, steps[0], &o)
	}
	return o, nil
}

// playSerially plays a serial order. An actor that a loop of a store has made repeat its
// operation has acted last, so such a play says nothing about the order, and is repeated.
func (s *Stage) playSerially(ctx context.Context, pair Pair, order Order) (t *take, err error) {
	const tries = 3
	for range tries {
		if t, err = s.Play(ctx, pair.Subject, pair.Actors, order); err != nil || !t.repeated {
			break
		}
	}
	return t, err
}

// exploreDeaths lets the process of an actor die before and after each of its round trips,
// while another process does the same. The result has to be as if the first process had
// done everything or nothing; an operation of several transactions may be done in part.
func (s *Stage) exploreDeaths(ctx context.Context, pair Pair, steps int, o *Outcome) error {
	const dead = 0
	both, err := s.playUnless(ctx, pair.Subject, pair.Actors, serial()[0], dead)
	if err != nil {
		return err
	}
	alone, err := s.playUnless(ctx, pair.Subject, [2]*Actor{&nothing, pair.Actors[1]}, serial()[0], dead)
	if err != nil {
		return err
	}
	accepted := []*take{both, alone}
	for _, t := range accepted {
		t.results[dead] = died
	}
	for order := range deaths(steps) {
		t, err := s.playUnless(ctx, pair.Subject, pair.Actors, order, dead)
		if err != nil {
			return err
		}
		t.results[dead] = died // or it had ended before it could die
		o.add(t)
		what := t.broken()
		if what == "" && !pair.Actors[0].Steps {
			what = judge(t, accepted)
		}
		if what == "" {
			continue
		}
		if e := excuse(pair, t, accepted); e != nil {
			o.except(e)
			continue
		}
		o.Findings = append(o.Findings, Finding{pair, order, what, t.script})
	}
	return nil
}

// inSteps reports whether one of the operations consists of several transactions.
func (p Pair) inSteps() bool { return p.Actors[0].Steps || p.Actors[1].Steps }

func (o *Outcome) except(e *Exception) {
	if o.Excepted == nil {
		o.Excepted = map[string]int{}
	}
	o.Excepted[e.Name]++
}

func (o *Outcome) add(t *take) {
	o.Orders++
	if t.blocked > 0 {
		o.Blocked++
	}
}

// broken returns the rule that a take breaks in any order, or an empty text.
func (t *take) broken() string {
	if what := t.wrong(); what != "" {
		return what
	}
	return t.drift
}

// wrong returns the broken rule unless an exception may explain it.
func (t *take) wrong() string {
	if t.problem != "" {
		return t.problem
	}
	for i, result := range t.results {
		if strings.HasPrefix(result, "error") || result == busy {
			return fmt.Sprintf("%c ended with %q", 'A'+i, result)
		}
	}
	return ""
}

// judge compares a take with those that are accepted. It returns an empty text if it equals
// one of them, and otherwise how it differs from the serial ones.
func judge(t *take, want []*take) string {
	if what := t.broken(); what != "" {
		return what
	}
	var b strings.Builder
	for i, w := range want {
		if t.results == w.results && t.state.equal(w.state) {
			return ""
		}
		if i < 2 {
			fmt.Fprintf(&b, "compared with serial order %d: results %q, want %q\n%s", i+1, t.results, w.results, difference(t.state, w.state))
		}
	}
	return b.String()
}
