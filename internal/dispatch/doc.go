// Package dispatch decides which ready jobs a claim takes, with many lanes, limits and
// minimums. It is independent of databases: stores read lanes and limits, call this
// package, and write the result. Explain uses the same functions.
package dispatch
