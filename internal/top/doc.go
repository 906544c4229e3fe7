// Package top shows a live view of a cluster in a terminal: job starts, queues, tenant
// usage, nodes, and recent failures. Without a terminal, it writes the same data once.
package top
