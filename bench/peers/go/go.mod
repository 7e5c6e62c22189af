module hashloom/bench/peers

go 1.24
