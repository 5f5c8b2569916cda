"""What two classifiers say differently: on real images, on random ones, where a search looks, and on a stored corpus."""
