//go:build !linux

package httpcall

import "context"

// newLoop is for systems with other means to wait for many connections.
func newLoop(context.Context, *Handler) ItemsLoop { return nil }
