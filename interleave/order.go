package interleave

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// An Order says which of two actors acts when: a list of turns.
type Order []Turn

// A Turn lets an actor continue.
type Turn struct {
	Actor int // 0 or 1
	Steps int // number of round trips; toTheEnd = until it ends; together = see there
	Death Death
}

// toTheEnd lets an actor finish.
const toTheEnd = 1000

// A Death ends an actor's process.
type Death int

// The deaths of a process.
const (
	Lives      Death = iota
	DiesBefore       // the process dies before its next round trip
	DiesAfter        // the process dies after its last round trip, before it has the answer
)

// String writes an order such as "A2 B* A*". "A+ B+" means that both share a transaction. A dagger marks a death: "A2† B*" dies before
// its third round trip, "A2‡ B*" before it has the answer to the second.
func (o Order) String() string {
	turns := make([]string, len(o))
	for i, t := range o {
		steps := "*"
		switch t.Steps {
		case toTheEnd:
		case together:
			steps = "+"
		default:
			steps = strconv.Itoa(t.Steps)
		}
		turns[i] = string(rune('A'+t.Actor)) + steps + []string{"", "†", "‡"}[t.Death]
	}
	return strings.Join(turns, " ")
}

// ParseOrder reads what String wrote.
func ParseOrder(text string) (Order, error) {
	var o Order
	for word := range strings.FieldsSeq(text) {
		var t Turn
		switch {
		case strings.HasSuffix(word, "†"):
			t.Death = DiesBefore
		case strings.HasSuffix(word, "‡"):
			t.Death = DiesAfter
		}
		word = strings.TrimRight(word, "†‡")
		if len(word) < 2 || word[0] != 'A' && word[0] != 'B' {
			return nil, fmt.Errorf("order %q: want turns such as A2, B* or A1†", text)
		}
		t.Actor = int(word[0] - 'A')
		switch word[1:] {
		case "*":
			t.Steps = toTheEnd
		case "+":
			t.Steps = together
		default:
			steps, err := strconv.Atoi(word[1:])
			if err != nil || steps < 0 {
				return nil, fmt.Errorf("order %q: %q is no number of steps", text, word[1:])
			}
			t.Steps = steps
		}
		o = append(o, t)
	}
	if len(o) == 0 {
		return nil, fmt.Errorf("the order is empty")
	}
	return o, nil
}

// serial returns the orders in which one actor acts after the other.
func serial() [2]Order {
	return [2]Order{
		{{Actor: 0, Steps: toTheEnd}, {Actor: 1, Steps: toTheEnd}},
		{{Actor: 1, Steps: toTheEnd}, {Actor: 0, Steps: toTheEnd}},
	}
}

// switches returns the orders of two actors that need the given numbers of round trips, with
// at most two switches, or at most three. It leaves out those in which an actor stops after an
// inert step: they are the same as those in which it stops before.
func switches(steps [2]int, inert [2][]bool, most int) iter.Seq[Order] {
	skips := func(actor, step int) bool { return step <= len(inert[actor]) && inert[actor][step-1] }
	return func(yield func(Order) bool) {
		for first := range 2 {
			second := 1 - first
			for i := 1; i < steps[first]; i++ {
				if skips(first, i) {
					continue
				}
				if !yield(Order{{Actor: first, Steps: i}, {Actor: second, Steps: toTheEnd}, {Actor: first, Steps: toTheEnd}}) {
					return
				}
				for j := 1; most >= 3 && j < steps[second]; j++ {
					if !yield(Order{{Actor: first, Steps: i}, {Actor: second, Steps: j}, {Actor: first, Steps: toTheEnd}, {Actor: second, Steps: toTheEnd}}) {
						return
					}
				}
			}
		}
	}
}

// deaths returns the orders in which the process of actor 0 dies at each of its round trips,
// and actor 1 acts afterwards or in between.
func deaths(steps int) iter.Seq[Order] {
	return func(yield func(Order) bool) {
		for i := range steps {
			for _, death := range []Death{DiesBefore, DiesAfter} {
				taken := i
				if death == DiesAfter {
					taken++
				}
				if !yield(Order{{Actor: 0, Steps: taken, Death: death}, {Actor: 1, Steps: toTheEnd}}) {
					return
				}
			}
		}
	}
}
