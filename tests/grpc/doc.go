// Package grpc tests the service with grpc-go, the client that most Go programs would use.
// It is a module of its own, so that other programs do not depend on grpc-go. All tests
// except one belong to the first tier; see internal/tier.
package grpc
