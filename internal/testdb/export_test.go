package testdb

// Alive lets the tests of this package tell a running process from a zombie.
var Alive = alive
