// Package cron computes the due times of schedules: cron expressions, fixed times of day
// and intervals. All functions are pure: they read no clock and have no state.
//
// # Expressions
//
// An expression has five fields (minute, hour, day of month, month, day of week) or six,
// with seconds first. A field is * or a list of values, ranges a-b, and steps */n, a/n
// (from a to the end) and a-b/n. Months and weekdays have names (JAN, January, MON, Monday)
// in any case; 0 and 7 are Sunday; ? means * in the day fields. The day of month also
// accepts L (the last day), L-3 (three days before the last), 15W (the weekday nearest the
// 15th, in the same month), LW (the last weekday) and L-3W (the weekday nearest the day
// three days before the last); the day of week accepts 5L (the last Friday) and 5#3 (the
// third Friday). A month without the day of 31, 31W, L-30 or 5#5 is skipped.
//
// When both day fields are restricted, a day needs to match only one of them, as in cron.
// Everything except * and ? is a restriction, including */2.
//
// @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly are abbreviations
// for expressions. @every 90s is an interval: whole milliseconds, from one second to eight
// years.
//
// Expressions that may not be due for more than eight years are rejected, such as 30
// February or a fifth Friday in February.
//
// # Clock changes
//
// An expression names local times, and each of them is due once, when the clocks of the
// zone first show it or a later time. So a time that does not exist is due at the end of
// the gap, and a time that exists twice is due the first time. All times that fall into one
// gap are due together, once, at its end: where 02:00 to 03:00 is missing, "0,30 2 * * *"
// fires once, at 03:00. So a schedule with one time per day fires once for every local day.
// A day that is skipped completely, such as 30 December 2011 in Samoa, has no times.
//
// Expressions with the hour *, */n or 0-23 do not refer to a time of day. They follow real
// time: they fire at every instant whose local time matches, including both copies of a
// repeated hour, and have nothing to catch up on after a gap.
//
// Intervals count elapsed time from an anchor, independent of any zone.
//
// # Limits
//
// Instants are whole seconds, except for intervals, and lie in the years 1 to 9999. The
// zero time stands for none.
package cron
