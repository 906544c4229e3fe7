// Package cdc operates jobs of change data capture, which are connectors of
// Kafka Connect clusters: it starts and stops them, changes their config, sets
// the GTID they read from, moves them between availability zones and run
// systems, and creates connectors from the migration records of Panama jobs.
//
// A Handler knows the clusters and lists its operations. Each operation is made
// of steps that the REST API of Kafka Connect 3.6 or newer documents, waits
// until the cluster has done what was asked, and may be repeated from the start
// after it was broken off anywhere: every step first looks at what is there.
//
// The state of a connector before an operation is kept as a Snapshot, and undoing
// the operation puts config, state and offsets back as they were. Values that look
// like secrets are not in it; they are taken from the connector itself.
package cdc
