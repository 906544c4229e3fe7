// Package connecttest is a fake of Kafka Connect for tests: clusters that serve the REST
// API for connectors over HTTP like the real workers.
//
// Connectors have a config, a state, tasks and offsets. A change of state is accepted at
// once and becomes visible after a delay. Offsets can be changed only while a connector is
// stopped, and outlive it. After changes the workers rebalance and answer 409 for a while.
// Tests can inject failures and delays.
package connecttest
