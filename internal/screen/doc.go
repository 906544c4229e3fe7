// Package screen writes for people: tables, times, bars, and colours where there
// is a terminal that wants them.
//
// What it is given may come from anywhere, a failed call's answer for example.
// Nothing of it reaches the terminal as a control character.
package screen
