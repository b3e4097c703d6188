module schedq

go 1.24
