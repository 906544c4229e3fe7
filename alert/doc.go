// Package alert reports what goes wrong with jobs: that they failed for good, that they
// started later than was acceptable, and that they wait too long.
//
// A [Rule] names whose jobs it is about, a kind, a queue, a tenant or all, and where
// messages go:
//
//	alerts := alert.NewClient(store)
//	rule, err := alerts.Set(ctx, alert.Rule{
//		Name: "mail", Scope: "kind:mail.send", URL: "https://example.org/alerts",
//		On: []alert.Event{alert.Failed, alert.Backlog}, Backlog: 10 * time.Minute,
//	})
//
// One node at a time looks every few seconds for what is new. What it finds is counted:
// however many jobs fail, the receiver gets one message with their number, at most one
// within Quiet. A message is a job of the kind "http", stored in the same transaction as
// the note that it was sent, so that it comes at least once.
package alert
