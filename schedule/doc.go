// Package schedule creates jobs at specified times: by cron expressions, at fixed
// intervals, with delays or at one instant, in any time zone, except on the days that a
// calendar excludes.
//
//	schedules := schedule.NewClient(store)
//	_, err := schedules.Ensure(ctx, schedule.Schedule{
//		Name: "nightly", Cron: "0 3 * * *", Zone: "Europe/Paris",
//		Job: *Report.Job(ReportArgs{Kind: "sales"}),
//	})
//
// A due instant is a [Fire]: it becomes one job, or one skip with its reason, exactly
// once, however many nodes there are. [Overlap], [AfterFailure], [Concurrency] and
// [CatchUp] define what happens if runs overlap, fail or were missed. [Alert] reports
// failures to a URL. Decisions depend only on the schedule and a [View]: see
// [Schedule.Decide].
package schedule
