// Package pages measures the reads of the console's pages. It fills an empty store with
// very many jobs, like package lists, and requests every screen with its filters. The reads
// for a page must depend on the rows that it shows, not on the stored data.
package pages
