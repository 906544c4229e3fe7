// Package cli is the command line of those who use a server: jobs, tenants,
// queues, nodes, limits, tokens. One file is one noun.
//
// A command asks the server for messages of the schema and shows them: as a table
// for people, or as the JSON of the API, as it is there. An error is one
// line, or one per field, and the exit code.
package cli
