// Package top is the live view of a cluster in a terminal: how many jobs start,
// what waits in the queues, what tenants use, how the nodes are, what failed
// last. Without a terminal it writes the same once.
package top
