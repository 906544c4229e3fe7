// Package tasks serves HTTP calls by the clock under the names that the first
// users of such a service knew them by: tasks and their runs.
//
// A task is a schedule with a cron expression whose job is of kind "http". Nothing
// of it is stored twice: what a schedule has and a task cannot say stays as it is
// when the task is changed.
package tasks
