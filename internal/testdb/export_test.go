package testdb

// Alive lets the tests of this package distinguish a running process from a zombie.
var Alive = alive
