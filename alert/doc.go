// Package alert reports problems with jobs: jobs that failed for good, started later than
// acceptable, or wait too long.
//
// A [Rule] selects jobs by kind, queue or tenant, or selects all jobs, and names the URL
// that receives the messages:
//
//	alerts := alert.NewClient(store)
//	rule, err := alerts.Set(ctx, alert.Rule{
//		Name: "mail", Scope: "kind:mail.send", URL: "https://example.org/alerts",
//		On: []alert.Event{alert.Failed, alert.Backlog}, Backlog: 10 * time.Minute,
//	})
//
// One node at a time checks for new events every few seconds and counts them: no matter how
// many jobs fail, the receiver gets one message with their number, and at most one message
// per Quiet period. A message is a job of the kind "http", stored in the same transaction
// as the record that it was sent, so each message is delivered at least once.
package alert
