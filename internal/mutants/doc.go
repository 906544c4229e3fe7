// Command mutants asks whether the tests notice when a guarantee is broken:
//
//	make mutants ARGS='-area postgres -count 60'
//
// It damages the code in one place at a time: a predicate of a statement that compares
// fences, a lock, a branch of a decision, a check of the server. It runs the tests that
// reach the place, the cheapest first, until one of them fails. A mutant that no test
// notices has survived: a test is missing, or the mutant is equivalent, which means that
// nothing depends on what was damaged. equivalent.txt says why for each of those.
//
// # How it works
//
// All mutants are built into the test binaries at once, as calls of package active that
// the environment switches on, and the damaged statements are given to the loader of the
// stores when a test starts. So a mutant takes the time of its tests and none to build.
// The sources in the work tree stay as they are: go build takes the others by -overlay,
// also where tests build programs.
//
// Which tests reach which place is recorded once, by a run of every test on its own. The
// record and the verdicts are kept in bin/mutants: what was recorded or judged before is
// not done again. A test that is new is recorded; -again judges survivors anew.
//
// Mutants are drawn by a seed, by default the commit's hash, so that what is shown for a
// commit was not chosen.
package main
