// Package connecttest is a double of Kafka Connect for tests: clusters that
// answer the REST API for connectors as the real workers do, over HTTP.
//
// Connectors have config, state, tasks and offsets. A change of state is accepted
// at once and takes a moment to show; offsets can be altered only while a connector
// is stopped, and outlive it; after changes the workers rebalance and answer 409
// for a while. Failures and slowness are injected.
package connecttest
