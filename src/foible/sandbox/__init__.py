"""The sandbox: a model that is not trusted runs in a process of its own that can do nothing but answer with tensors.

parent: worker.py == channel.py == child: process.py (supervisor, protections) -> serve.py (the model)

This file imports nothing: the child must be locked in before a library can start a second thread.
"""
