package seal_test

// unsealed lists where texts of callers stay readable, and why.
var unsealed = map[string]string{}

// unfilled lists the tables that the test leaves empty, and why.
var unfilled = map[string]string{}
