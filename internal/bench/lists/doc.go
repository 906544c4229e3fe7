// Package lists measures what lists and counts read. It fills an empty store with very
// many jobs, of which nearly all have ended, as in a store that was used for a month, and
// then asks for every filter and every count that the API offers. What an answer
// reads must follow its page, not the table.
package lists
