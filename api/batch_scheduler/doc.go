// Package batchscheduler is the API of batch_scheduler.BatchSchedulerService, generated
// from its schema.
package batchscheduler
