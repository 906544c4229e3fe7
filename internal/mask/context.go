package mask

import "context"

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
