package console

import "slices"

// button opens the form of an action on something. Buttons decide what is offered; the API
// decides what is done.
type button[T any] struct {
	Name   string // of the form, below the path of what it is about
	Method string // of the API, which says who may
	Label  string
	Row    bool         // lists have it too
	fits   func(T) bool // reports whether it is offered for something as it stands
}

// offered are the buttons of something as it stands.
func offered[T any](all []button[T], subject T) (some []button[T]) {
	for _, button := range all {
		if button.fits(subject) {
			some = append(some, button)
		}
	}
	return some
}

// in reports of a state whether it is one of some.
func in(states ...string) func(string) bool {
	return func(state string) bool { return slices.Contains(states, state) }
}
