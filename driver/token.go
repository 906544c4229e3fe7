package driver

import "context"

type nodeTokenKey struct{}

// AsNode returns a context for calls on behalf of a node whose token the caller holds. A
// server that acts for workers needs it, because a worker may join through one server and
// send heartbeats through another. Join writes the token to the node's row. Beat, Claim,
// Held and Leave use the token to find that row. Without AsNode, a store generates and holds
// the tokens of the nodes that join through it.
func AsNode(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, nodeTokenKey{}, token)
}

// NodeToken returns the token that AsNode added to ctx. It is intended for store
// implementations.
func NodeToken(ctx context.Context) (token string, kept bool) {
	token, kept = ctx.Value(nodeTokenKey{}).(string)
	return token, kept
}
