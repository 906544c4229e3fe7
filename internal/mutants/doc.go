// Command mutants checks whether the tests notice when a guarantee is broken:
//
//	make mutants ARGS='-area postgres -count 60'
//
// It mutates the code in one place at a time: a predicate of a statement that compares
// fences, a lock, a branch of a decision, a check of the server. It runs the tests that
// reach the place, cheapest first, until one of them fails. A mutant that no test notices
// has survived: either a test is missing, or the mutant is equivalent, which means that
// nothing depends on the mutated code. equivalent.txt contains the reasons for those.
//
// # How it works
//
// All mutants are built into the test binaries at once, as calls of package active that the
// environment enables; mutated statements are passed to the loader of the stores when a
// test starts. So a mutant costs only the time of its tests, without a build. The sources
// in the work tree stay unchanged: go build uses modified copies through -overlay,
// including in tests that build programs.
//
// The tests that reach each place are recorded once, by running every test separately. The
// records and the verdicts are stored in bin/mutants and reused. New tests are recorded;
// -again judges survivors again.
//
// Mutants are drawn with a seed, by default the commit's hash, so that the selection for a
// commit is not biased.
package main
