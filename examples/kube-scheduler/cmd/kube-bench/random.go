package main

func runRandom(queues []queueName) error { return nil }
