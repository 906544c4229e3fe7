// Package grpc tests the service with grpc-go, the client that most programs in
// Go would use. It is a module of its own so that grpc-go is no dependency
// of other programs. All tests but one belong to the first tier; see
// internal/tier.
package grpc
