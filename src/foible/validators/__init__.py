"""Validators: does a failure count? None is built in yet; the registry table `validators` takes them."""
