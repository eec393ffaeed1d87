"""Servers without a model, which behave in known ways. The self-test runs the suite against each."""
