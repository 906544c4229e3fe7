// Package schedule makes jobs when they are due: by cron expressions, intervals, delays or
// at one instant, in any time zone, around the days that a calendar excludes.
//
//	schedules := schedule.NewClient(store)
//	_, err := schedules.Ensure(ctx, schedule.Schedule{
//		Name: "nightly", Cron: "0 3 * * *", Zone: "Europe/Paris",
//		Job: *Report.Job(ReportArgs{Kind: "sales"}),
//	})
//
// A due instant is a [Fire]: it becomes a job, or a skip with its reason, exactly once,
// however many nodes there are. [Overlap], [AfterFailure], [Concurrency] and [CatchUp] say
// what happens if runs come too close to each other, fail, or were missed. [Alert] tells a
// URL about failures. What is decided follows from the schedule and a [View] alone: see
// [Schedule.Decide].
package schedule
