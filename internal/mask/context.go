package mask

import "context"

type hiderKey struct{}

// WithHider returns a context in which hide masks the confidential values of the running
// job.
func WithHider(ctx context.Context, hide func(text string) string) context.Context {
	return context.WithValue(ctx, hiderKey{}, hide)
}

// HiderOf returns the function that masks the confidential values of the running job, or
// nil if the context is not that of a node.
func HiderOf(ctx context.Context) func(text string) string {
	hide, _ := ctx.Value(hiderKey{}).(func(text string) string)
	return hide
}

// Hide masks the confidential values of the running job in a string, if the context is that
// of a node.
func Hide(ctx context.Context, text string) string {
	if hide := HiderOf(ctx); hide != nil {
		return hide(text)
	}
	return text
}
