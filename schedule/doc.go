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
// Each due instant leads to one [Fire]: exactly one job, or one recorded skip with its
// reason, regardless of the number of nodes. [Overlap], [AfterFailure], [Concurrency] and
// [CatchUp] define the reaction to overlapping, failed and missed runs. [Alert] reports
// failures to a URL. Decisions depend only on the schedule and a [View]: see
// [Schedule.Decide].
package schedule
