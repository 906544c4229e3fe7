// Package tasks serves scheduled HTTP calls under the names used by an earlier service:
// tasks and their runs.
//
// A task is a schedule with a cron expression and a job of kind "http". Nothing is stored
// twice: fields of a schedule that a task cannot express are preserved when the task is
// changed.
package tasks
