// Package cli contains the commands for users of a server: jobs, tenants, queues, nodes,
// limits, tokens. Each noun has a file of its own.
//
// A command sends requests to the server and shows the responses: as a table for people, or
// as the JSON of the API, unchanged. Errors are printed as one line, or one line per field,
// and determine the exit code.
package cli
