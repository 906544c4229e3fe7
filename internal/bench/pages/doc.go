// Package pages measures what the pages of the console read. It fills an empty store with
// very many jobs, as package lists does, and asks for every screen with its filters. What
// a page reads must follow the rows that it shows, not what is stored.
package pages
