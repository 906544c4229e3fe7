// Package cdc operates change data capture (CDC) jobs, which are connectors of Kafka
// Connect clusters: it starts and stops them, changes their config, sets the GTID they read
// from, moves them between availability zones and run systems, and creates connectors from
// the migration records of Panama jobs.
//
// A Handler knows the clusters and lists its operations. Each operation consists of calls
// to the REST API of Kafka Connect 3.6 or newer, waits until the cluster has applied them,
// and may be repeated from the start after an interruption at any point: every step first
// checks the current state.
//
// A Snapshot stores the state of a connector before an operation. Undoing the operation
// restores config, state and offsets. A snapshot leaves out values that look like secrets;
// they are taken from the live connector.
package cdc
