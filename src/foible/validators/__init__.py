"""Validators: does a failure count? One file each; `judge` weighs what the others see."""
