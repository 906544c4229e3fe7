package driver

import "context"

type nodeTokenKey struct{}

// AsNode returns ctx for calls in the name of a node whose token the caller keeps: a
// server that acts for workers, which may join at one server and beat at another. Join
// writes the token into the node's row; Beat, Claim, Held and Leave find the row by it.
// Without AsNode a store creates the tokens of the nodes that join through it, and
// keeps them.
func AsNode(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, nodeTokenKey{}, token)
}

// NodeToken returns the token that AsNode put into ctx, for stores.
func NodeToken(ctx context.Context) (token string, kept bool) {
	token, kept = ctx.Value(nodeTokenKey{}).(string)
	return token, kept
}
