// An assembly file makes the compiler accept a function without a body.
