// Package lists measures the reads of lists and counts. It fills an empty store with very
// many jobs, nearly all of them finished, like a store that was used for a month. Then it
// requests every filter and every count that the API offers. The reads for a response must
// depend on the size of its page, not on that of the table.
package lists
