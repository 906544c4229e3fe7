package console

import "slices"

// button opens the form of an action on an object. Buttons determine what is offered; the
// API determines what is done.
type button[T any] struct {
	Name   string // name of the form, below the path of the object
	Method string // API method, which determines the required role
	Label  string
	Row    bool         // whether lists have it too
	fits   func(T) bool // reports whether it is offered for an object in its current state
}

// offered returns the buttons for an object in its current state.
func offered[T any](all []button[T], subject T) (some []button[T]) {
	for _, button := range all {
		if button.fits(subject) {
			some = append(some, button)
		}
	}
	return some
}

// in returns a function that reports whether a state is one of the given states.
func in(states ...string) func(string) bool {
	return func(state string) bool { return slices.Contains(states, state) }
}
