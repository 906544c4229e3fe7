// Package dispatch decides which ready jobs a claim takes when there are many
// lanes, limits and minimums to respect. It knows nothing of databases: stores
// read lanes and limits, ask it, and write what it says. Explain asks it the
// same questions.
package dispatch
