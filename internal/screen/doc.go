// Package screen writes output for people: tables, times, bars, and colours on terminals
// that support them.
//
// Its input may come from anywhere, for example from the response to a failed call. Nothing
// in it reaches the terminal as a control character.
package screen
