module github.com/hashloom/hashloom/go

go 1.25
