module schedq/cluster

go 1.24.0

require schedq v0.0.0-00010101000000-000000000000

replace schedq => ../bindings/go
