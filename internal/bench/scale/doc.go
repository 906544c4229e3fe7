// Package scale simulates a cluster that is too large to be at hand: many nodes that claim
// jobs of many tenants where tenants share starts by weight.
//
// What decides is the real code: the rules of package sqlstore, and the ledgers and the
// choice of package dispatch. The database is an array in memory. A claim reads it in the
// steps in which the store for PostgreSQL does when there are more than 256 lanes, and the
// simulation counts the rows of each step.
//
// What it leaves out: limits, priorities, time on the network, and what a database server
// needs for the rows; and that a node which is alone remembers the next jobs of lanes, so
// it reads less than is counted here. Jobs take no time; a node claims at a steady pace.
// Claims overlap as far as the time that a claim takes makes them: those that do read the
// same jobs, take them one after the other and try again for what they missed.
//
// Given the same seed all counts are the same. Only CPU times are measured.
package scale
