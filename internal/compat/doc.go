// Package compat compares the Go API and the protobuf schema with those of the last
// release. The repository stores them in testdata/compat:
//
//	v0.1.0.txt    the exported names of the public packages, one per line
//	v0.1.0.binpb  the schema, as in api/schema.binpb
//	allowed.txt   removals and changes since then, each with a reason
//
// The tests fail for removals and changes that are not allowed. Additions are always
// allowed. A release records itself, and starts with an empty list of allowed changes:
//
//	go test ./internal/compat -release v0.2.0
package compat
