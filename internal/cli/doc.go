// Package cli is the command-line client of a server, with commands for jobs, tenants,
// queues, nodes, limits and tokens. Each noun has its own file.
//
// A command requests messages of the schema from the server and prints them: as a table for
// people, or unchanged as the JSON of the API. An error is printed as one line, or as one
// line per field, and determines the exit code.
package cli
