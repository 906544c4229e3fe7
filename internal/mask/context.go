package mask

import (
	"context"
	"encoding/json"
)

type hiderKey struct{}

// WithHider returns a context that carries hide, the function that masks the running job's
// confidential values.
func WithHider(ctx context.Context, hide func(text string) string) context.Context {
	return context.WithValue(ctx, hiderKey{}, hide)
}

// HiderOf returns the function that masks the running job's confidential values. It returns
// nil if ctx does not come from a node.
func HiderOf(ctx context.Context) func(text string) string {
	hide, _ := ctx.Value(hiderKey{}).(func(text string) string)
	return hide
}

// Hide masks the running job's confidential values in text. It returns text unchanged if ctx
// does not come from a node.
func Hide(ctx context.Context, text string) string {
	if hide := HiderOf(ctx); hide != nil {
		return hide(text)
	}
	return text
}

type argsKey struct{}

// WithArgs returns a context in which add makes further args confidential, as fields of the kind of
// the running job.
func WithArgs(ctx context.Context, add func(args json.RawMessage)) context.Context {
	return context.WithValue(ctx, argsKey{}, add)
}

// AddArgs makes Hide mask the confidential values of further args too: a job that processes a shard
// works with the args of its sweep. It does nothing if the context is not that of a node.
func AddArgs(ctx context.Context, args json.RawMessage) {
	if add, ok := ctx.Value(argsKey{}).(func(json.RawMessage)); ok {
		add(args)
	}
}
