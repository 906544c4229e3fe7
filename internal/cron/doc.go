// Package cron says when schedules are due: cron expressions, fixed times of
// day and intervals. All of it is pure: it reads no clock and keeps no state.
//
// # Expressions
//
// An expression has five fields (minute, hour, day of month, month, day of
// week) or six, with seconds first. A field is * or a list of values, ranges
// a-b, and steps */n, a/n (from a to the end) and a-b/n. Months and weekdays
// have names (JAN, January, MON, Monday) in any case; 0 and 7 are Sunday; ? is * in the day
// fields. The day of month also knows L (the last day), L-3 (three days before
// it), 15W (the weekday nearest the 15th, in the same month) LW (the last
// weekday) and L-3W (the weekday nearest the day three days before the last); the day of week knows 5L (the last Friday) and 5#3 (the third
// Friday). A month that lacks the day of 31, 31W, L-30 or 5#5 is passed over.
//
// When both day fields are restricted, a day needs to match only one of them,
// as in cron. Anything but * and ? restricts, so */2 does as well.
//
// @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly are
// short for expressions. @every 90s is an interval: whole milliseconds, from one
// second to eight years.
//
// What can stay silent for more than eight years is refused, such as 30 February
// or a fifth Friday in February.
//
// # Clocks that are changed
//
// An expression names local times, and each of them is due once, when the clocks
// of the zone first show it or a later time. So a time that does not exist is
// due at the end of the gap, and one that exists twice is due the first time.
// All times that fall into one gap are due together, once, at its end: where
// 02:00 to 03:00 is missing, "0,30 2 * * *" fires once, at 03:00. A schedule of
// one time a day thus fires once for every local day. A day that is missing as a
// whole, as 30 December 2011 in Samoa, has no times.
//
// Expressions whose hour is *, */n or 0-23 are not about a time of day. They
// follow real time: they fire at every instant whose local time matches, in both
// copies of a repeated hour, and have nothing to make up for in a gap.
//
// Intervals count elapsed time from an anchor and know no zone.
//
// # Limits
//
// Instants are whole seconds, but for those of intervals, and lie in the years 1
// to 9999. The zero time stands for none.
package cron
