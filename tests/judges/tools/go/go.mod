module gyre/tests/judges

go 1.26.0
