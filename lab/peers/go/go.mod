module gyre/lab/peers/go

go 1.20
