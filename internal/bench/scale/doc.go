// Package scale simulates clusters that are too large for real measurements: many nodes
// that claim jobs of many tenants, where tenants share starts by weight.
//
// The decisions are made by the real code: the limits of package sqlstore, and the past starts
// and the choice of package dispatch. The database is an array in memory. A claim reads it
// in the same steps as the PostgreSQL store with more than 256 lanes, and the simulation
// counts the rows of each step.
//
// The simulation leaves out limits, priorities, network latency, and the time that a
// database server needs for the rows. It also leaves out that a single node remembers the
// next jobs of lanes, so such a node reads less than counted here. Jobs take no time; a
// node claims at a steady pace. Claims overlap according to their duration: overlapping
// claims read the same jobs, take them one after the other and try again for the ones they
// missed.
//
// With the same seed, all counts are the same. Only CPU times are measured.
package scale
