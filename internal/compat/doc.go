// Package compat holds the Go API and the protobuf schema against those of the last
// release. What a release had is in testdata/compat of the repository:
//
//	v0.1.0.txt    the exported names of the public packages, one a line
//	v0.1.0.binpb  the schema, as api/schema.binpb was
//	allowed.txt   what was removed or changed since, each with the reason
//
// The tests fail for what is missing or different now and not allowed. Additions are free.
// A release records itself, and begins with nothing allowed:
//
//	go test ./internal/compat -release v0.2.0
package compat
